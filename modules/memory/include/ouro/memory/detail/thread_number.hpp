#pragma once

#include <cstdint>

namespace ouro::detail {

// Zero until the thread first owns something, which is also how a thread that never did is told from every
// owner. An address would do while all threads live, but a later thread may get that of one that has ended.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::uint64_t t_thread_number = 0;

// A number for the calling thread that no thread of the process had before.
[[gnu::cold, gnu::noinline]] std::uint64_t take_thread_number() noexcept;

// The thread's number, for those who note it as an owner's.
[[nodiscard]] inline std::uint64_t owning_thread_number() noexcept {
    return t_thread_number != 0 ? t_thread_number : take_thread_number();
}

// Whether an owner's number is that of the calling thread: a load and a comparison.
[[nodiscard]] inline bool is_this_thread(std::uint64_t owner) noexcept {
    return owner == t_thread_number;
}

}  // namespace ouro::detail
