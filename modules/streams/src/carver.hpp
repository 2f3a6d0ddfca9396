#pragma once

#include <ouro/base/align.hpp>
#include <ouro/base/memory_block.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace ouro::detail {

// Divides one block of zeros into arrays, and writes to none of it: memory that nobody uses stays with the
// system, however large a bound is. What has to be something else than zeros at its beginning is for whoever
// takes it. The same calls on a carver without a block only add up what they would take.
class Carver {
public:
    // Of each array, and of the block.
    static constexpr std::size_t kAlignment = 128;

    constexpr Carver() noexcept = default;
    explicit Carver(MemoryBlock block) noexcept : block_(block) {}

    template <class T>
    std::span<T> take(std::uint64_t count, std::size_t alignment = kAlignment) noexcept {
        static_assert(std::is_trivially_destructible_v<T>);
        used_ = (used_ + alignment - 1) & ~std::uint64_t{alignment - 1};
        const std::uint64_t begin = used_;
        used_ += count * sizeof(T);
        if (block_.is_null()) return {};
        OURO_ASSERT(used_ <= block_.size, "more is taken than was added up");
        return {reinterpret_cast<T*>(block_.data + begin), static_cast<std::size_t>(count)};
    }

    [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_; }

private:
    MemoryBlock block_;
    std::uint64_t used_ = 0;
};

}  // namespace ouro::detail
