#include <ouro/base/assert.hpp>
#include <ouro/os/thread.hpp>

#include <utility>

// What a handle to a thread does on every platform.
namespace ouro::os {

Thread& Thread::operator=(Thread&& other) noexcept {
    OURO_ASSERT(!is_joinable(), "join a thread before another takes its place");
    native_ = std::exchange(other.native_, 0);
    return *this;
}

Thread::~Thread() {
    OURO_ASSERT(!is_joinable(), "join a thread before it is destroyed");
}

}  // namespace ouro::os
