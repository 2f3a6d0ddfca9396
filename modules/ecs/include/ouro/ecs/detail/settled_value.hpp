#pragma once

namespace ouro::detail {

// A value that is what it stays: others may write the same again meanwhile, and nothing else.
//
// In wasm32 all atomic loads are checked for their alignment when they run, four instructions for one. A
// plain one does: even if it were made of pieces, those were of the same value. Elsewhere it costs nothing to
// say what it is.
template <class T>
[[nodiscard]] inline T load_settled(const T& value) noexcept {
#if defined(__wasm__)
    return *const_cast<const volatile T*>(&value);
#else
    return __atomic_load_n(&value, __ATOMIC_RELAXED);
#endif
}

}  // namespace ouro::detail
