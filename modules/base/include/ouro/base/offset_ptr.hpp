#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/memory_block.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ouro {

// What offsets are resolved through: the live image, or a copy of it somewhere else. Byte 0 of a base belongs
// to a header and is never the target of an OffsetPtr, so that offset zero can mean null.
template <class Byte>
    requires std::same_as<std::remove_const_t<Byte>, std::byte>
class BasicOffsetBase {
public:
    static constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 32;

    constexpr BasicOffsetBase() noexcept = default;

    // Requires: size <= kMaxSize.
    constexpr BasicOffsetBase(Byte* start, std::size_t size) noexcept : start_(start), size_(size) {
        OURO_ASSERT(size <= kMaxSize, "32-bit offsets reach 4 GiB");
    }

    // A writable base serves readers, too.
    template <class Other>
        requires(std::is_const_v<Byte> && !std::is_const_v<Other>)
    constexpr BasicOffsetBase(BasicOffsetBase<Other> other) noexcept
        : start_(other.start()), size_(other.size()) {}

    [[nodiscard]] constexpr Byte* start() const noexcept { return start_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

    // Requires: the range lies in the base (debug assert).
    [[nodiscard]] constexpr Byte* at(std::uint32_t offset, std::size_t bytes) const noexcept {
        OURO_DEBUG_ASSERT(offset <= size_ && bytes <= size_ - offset, "the offset points outside its base");
        return start_ + offset;
    }

    // True when the range lies in the base: for offsets read from a file or a peer.
    [[nodiscard]] constexpr bool covers(std::uint32_t offset, std::size_t bytes) const noexcept {
        return offset <= size_ && bytes <= size_ - offset;
    }

private:
    Byte* start_ = nullptr;
    std::size_t size_ = 0;
};

using OffsetBase = BasicOffsetBase<std::byte>;
using ConstOffsetBase = BasicOffsetBase<const std::byte>;

// A pointer stored as a 32-bit offset from a base that is named at each use. The stored bytes mean the same
// in every process, at every address, on every platform; they can be copied, moved, saved and shared.
template <class T>
class OffsetPtr {
public:
    using element_type = T;

    constexpr OffsetPtr() noexcept = default;

    [[nodiscard]] static constexpr OffsetPtr from_offset(std::uint32_t offset) noexcept {
        OffsetPtr pointer;
        pointer.offset_ = offset;
        return pointer;
    }

    // Requires: target is null or lies in the base, not at its first byte.
    [[nodiscard]] static OffsetPtr to(const T* target, ConstOffsetBase base) noexcept {
        if (target == nullptr) return {};
        const auto distance =
            reinterpret_cast<std::uintptr_t>(target) - reinterpret_cast<std::uintptr_t>(base.start());
        OURO_ASSERT(distance != 0 && distance < base.size() && sizeof(T) <= base.size() - distance,
                    "an OffsetPtr points into its base");
        return from_offset(static_cast<std::uint32_t>(distance));
    }

    [[nodiscard]] constexpr std::uint32_t offset() const noexcept { return offset_; }
    [[nodiscard]] constexpr bool is_null() const noexcept { return offset_ == 0; }
    explicit constexpr operator bool() const noexcept { return offset_ != 0; }

    // Null when this is null. `count` objects are checked to lie in the base in debug builds.
    [[nodiscard]] T* in(OffsetBase base, std::size_t count = 1) const noexcept {
        return is_null() ? nullptr : reinterpret_cast<T*>(base.at(offset_, count * sizeof(T)));
    }
    [[nodiscard]] const T* in(ConstOffsetBase base, std::size_t count = 1) const noexcept {
        return is_null() ? nullptr : reinterpret_cast<const T*>(base.at(offset_, count * sizeof(T)));
    }

    friend constexpr bool operator==(OffsetPtr, OffsetPtr) noexcept = default;
    friend constexpr auto operator<=>(OffsetPtr, OffsetPtr) noexcept = default;

private:
    std::uint32_t offset_ = 0;
};

static_assert(sizeof(OffsetPtr<int>) == 4 && std::is_trivially_copyable_v<OffsetPtr<int>>);

}  // namespace ouro
