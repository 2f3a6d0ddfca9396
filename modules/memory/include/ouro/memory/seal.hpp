#pragma once

#include <ouro/base/status.hpp>

#include <cstdint>

// After warm-up a game should need nothing more from the system. seal() turns that wish into a promise: from
// then on no strategy of the process grows, and an allocation that would need it fails with Status::sealed.
// Memory that is there already is handed out as before, and is not given back meanwhile, because it could not
// be had again. Not bound by it is what looks for bugs: the guard pages of GuardedAllocator and of
// SampledGuards, and the records of guarded blocks.
namespace ouro {

// For the whole process, from any thread; sealing twice is as good as once. What another thread has begun to
// grow at that moment may still finish.
void seal() noexcept;
void unseal() noexcept;
[[nodiscard]] bool is_sealed() noexcept;

// What a strategy asks before it takes memory from the system: ok, or sealed, which is then counted. On slow
// paths only.
[[nodiscard]] Status check_unsealed() noexcept;

// How often growth was refused since the process began: zero at the end of a run says that the warm-up was
// complete.
[[nodiscard]] std::uint64_t refused_growths() noexcept;

// Sealed until the end of the scope, then as it was before: for tests, and for the part of a program that
// must not grow.
class SealScope {
public:
    SealScope() noexcept : was_sealed_(is_sealed()) { seal(); }
    ~SealScope() {
        if (!was_sealed_) unseal();
    }
    SealScope(const SealScope&) = delete;
    SealScope& operator=(const SealScope&) = delete;

private:
    bool was_sealed_;
};

}  // namespace ouro
