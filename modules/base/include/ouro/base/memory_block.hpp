#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace ouro {

// A range of bytes, owned by nobody: what an allocation returns and what a deallocation takes. A null block
// has no address and no size.
struct MemoryBlock {
    std::byte* data = nullptr;
    std::size_t size = 0;

    [[nodiscard]] constexpr bool is_null() const noexcept { return data == nullptr; }
    explicit constexpr operator bool() const noexcept { return data != nullptr; }

    [[nodiscard]] constexpr std::byte* begin() const noexcept { return data; }
    [[nodiscard]] constexpr std::byte* end() const noexcept { return data + size; }
    [[nodiscard]] constexpr std::span<std::byte> bytes() const noexcept { return {data, size}; }

    [[nodiscard]] bool contains(const void* pointer) const noexcept {
        return address_of(pointer) - address_of(data) < size;
    }

    // True when every byte of the other block lies in this one. A null block lies nowhere.
    [[nodiscard]] bool contains(MemoryBlock other) const noexcept {
        const std::uintptr_t offset = address_of(other.data) - address_of(data);
        return !other.is_null() && offset <= size && other.size <= size - offset;
    }

    [[nodiscard]] bool overlaps(MemoryBlock other) const noexcept {
        return size != 0 && other.size != 0 && (contains(other.data) || other.contains(data));
    }

    // Requires: offset + count <= size.
    [[nodiscard]] constexpr MemoryBlock sub(std::size_t offset, std::size_t count) const noexcept {
        OURO_DEBUG_ASSERT(offset <= size && count <= size - offset, "the part reaches outside its block");
        return {data + offset, count};
    }

    friend constexpr bool operator==(MemoryBlock, MemoryBlock) noexcept = default;

private:
    static std::uintptr_t address_of(const void* pointer) noexcept {
        return reinterpret_cast<std::uintptr_t>(pointer);
    }
};

// A block or the reason why there is none, in the two words of the block itself: a failure is kept where the
// size would be, behind a null address. So every allocation returns in two registers, through virtual calls
// as well. A null block is therefore no value of its own. Stands here, so that whoever sees MemoryBlock sees
// this too.
template <>
class [[nodiscard]] Expected<MemoryBlock> {
public:
    using value_type = MemoryBlock;

    // Requires: status is not ok.
    constexpr Expected(Status status) noexcept : block_{nullptr, static_cast<std::size_t>(status)} {
        OURO_ASSERT(status != Status::ok, "a failure needs a reason");
    }
    // Requires: block is not null.
    constexpr Expected(MemoryBlock block) noexcept : block_(block) {
        OURO_DEBUG_ASSERT(!block.is_null(), "a null block is a failure, which needs a reason");
    }

    [[nodiscard]] constexpr bool has_value() const noexcept { return !block_.is_null(); }
    explicit constexpr operator bool() const noexcept { return has_value(); }

    // ok when there is a block.
    [[nodiscard]] constexpr Status status() const noexcept {
        return has_value() ? Status::ok : static_cast<Status>(block_.size);
    }

    [[nodiscard]] constexpr const MemoryBlock& value() const noexcept {
        if (!has_value()) [[unlikely]]
            detail::value_of_failure(status());
        return block_;
    }
    [[nodiscard]] constexpr const MemoryBlock& operator*() const noexcept { return value(); }
    [[nodiscard]] constexpr const MemoryBlock* operator->() const noexcept { return &value(); }
    [[nodiscard]] constexpr MemoryBlock value_or(MemoryBlock fallback) const noexcept {
        return has_value() ? block_ : fallback;
    }

private:
    MemoryBlock block_;
};

static_assert(sizeof(Expected<MemoryBlock>) == 2 * sizeof(void*) &&
              std::is_trivially_copyable_v<Expected<MemoryBlock>>);

}  // namespace ouro
