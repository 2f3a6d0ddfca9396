#pragma once

#include <cstddef>

namespace ouro {

// The operators of a random access iterator that follow from its ++, -- and +=. A derived class brings these,
// and names this one's ++ and -- with `using`, which its own would hide.
template <class Derived>
class IteratorSteps {
public:
    constexpr Derived operator++(int) noexcept {
        const Derived before = self();
        ++self();
        return before;
    }
    constexpr Derived operator--(int) noexcept {
        const Derived before = self();
        --self();
        return before;
    }
    constexpr Derived& operator-=(std::ptrdiff_t offset) noexcept { return self() += -offset; }

    [[nodiscard]] friend constexpr Derived operator+(Derived it, std::ptrdiff_t offset) noexcept {
        return it += offset;
    }
    [[nodiscard]] friend constexpr Derived operator+(std::ptrdiff_t offset, Derived it) noexcept {
        return it += offset;
    }
    [[nodiscard]] friend constexpr Derived operator-(Derived it, std::ptrdiff_t offset) noexcept {
        return it -= offset;
    }

private:
    friend Derived;
    constexpr IteratorSteps() noexcept = default;

    [[nodiscard]] constexpr Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

}  // namespace ouro
