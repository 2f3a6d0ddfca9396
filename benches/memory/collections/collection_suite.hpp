#pragma once

#include "harness/session.hpp"

namespace ouro::bench {

void measure_vectors(Session& session);
void measure_rings(Session& session);
void measure_interner(Session& session);
void measure_bits(Session& session);
void measure_columns(Session& session);
void measure_sparse_arrays(Session& session);

}  // namespace ouro::bench
