#pragma once

namespace ouro::process_heap {

// A variable that is never destroyed: blocks outlive whatever ends last.
template <class T>
union Lasting {
    constexpr Lasting() noexcept : value() {}
    constexpr ~Lasting() {}
    Lasting(const Lasting&) = delete;
    Lasting& operator=(const Lasting&) = delete;

    T value;
};

}  // namespace ouro::process_heap
