#pragma once

namespace ouro::detail {

// Every thread has its own, so its address tells threads apart without a call: two instructions inline, and
// no other live thread has the same. A thread may get the address of one that has ended.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local char thread_mark = 0;

[[nodiscard]] inline const void* this_thread_mark() noexcept {
    return &thread_mark;
}

}  // namespace ouro::detail
