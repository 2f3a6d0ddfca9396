#pragma once

#include "harness/case.hpp"

namespace ouro::bench {

// Adds our general-purpose allocator, called by its own type, as the case's own candidate. Returns false
// while there is none, and the case then shows the peers alone.
template <class MakeWork>
bool add_our_heap(Case& /*row*/, const MakeWork& /*make_work*/) {
    return false;
}

}  // namespace ouro::bench
