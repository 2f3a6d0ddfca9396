// What a thread asks about itself. Apart from starting threads, so that the malloc override takes in only
// this.
#include <ouro/os/thread.hpp>

#include <cstdint>

#include <sched.h>

namespace ouro::os {

std::uint64_t this_thread_id() noexcept {
    // An object of this thread's own has an address that no other live thread's has.
    [[gnu::tls_model("initial-exec")]] static thread_local char mark;
    return reinterpret_cast<std::uintptr_t>(&mark);
}

void yield_thread() noexcept {
    ::sched_yield();
}

}  // namespace ouro::os
