#pragma once

#include <ouro/base/align.hpp>
#include <ouro/base/memory_block.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ouro::detail {

// Divides one block of zeros into arrays. The same calls on a carver without a block only add up what they
// would take.
class Carver {
public:
    // Of each array, and of the block.
    static constexpr std::size_t kAlignment = 128;

    constexpr Carver() noexcept = default;
    explicit Carver(MemoryBlock block) noexcept : block_(block) {}

    template <class T>
    std::span<T> take(std::uint64_t count, std::size_t alignment = kAlignment) noexcept {
        used_ = (used_ + alignment - 1) & ~std::uint64_t{alignment - 1};
        const std::uint64_t begin = used_;
        used_ += count * sizeof(T);
        if (block_.is_null()) return {};
        OURO_ASSERT(used_ <= block_.size, "more is taken than was added up");
        auto* first = reinterpret_cast<T*>(block_.data + begin);
        for (std::uint64_t index = 0; index < count; ++index)
            if constexpr (!std::is_trivially_default_constructible_v<T>) std::construct_at(first + index);
        return {first, static_cast<std::size_t>(count)};
    }

    [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_; }

private:
    MemoryBlock block_;
    std::uint64_t used_ = 0;
};

}  // namespace ouro::detail
