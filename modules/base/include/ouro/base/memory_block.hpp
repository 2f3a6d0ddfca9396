#pragma once

#include <ouro/base/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

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

}  // namespace ouro
