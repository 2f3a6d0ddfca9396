#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/base/sim_value.hpp>
#include <ouro/streams/image_heap.hpp>
#include <ouro/streams/tick_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace ouro {

// Reads simulation values out of a past tick, where pages are not side by side: everything is copied. The
// simulation types take one in their reading functions. Refers to the view, which outlives it.
//
//     const auto view = ring.view(tick);
//     const PastReader past(*view);
//     const auto town = past.root<Town>(heap, "town");
//     const auto first = town->houses.at(past, 0);       // Expected<House>
class PastReader {
public:
    explicit constexpr PastReader(const TickView& view) noexcept : view_(&view) {}

    // The bytes at a place of the image. out_of_range when they are not all in it.
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::byte> out) const noexcept {
        return view_->read(offset, out);
    }

    // A value at a place of the image; out_of_range.
    template <class T>
        requires std::is_trivially_copyable_v<T>
    [[nodiscard]] Expected<T> load(std::uint64_t offset) const noexcept {
        T value{};
        const Status status = read(offset, std::as_writable_bytes(std::span(&value, 1)));
        if (status != Status::ok) return status;
        return value;
    }
    // out_of_range for null, too.
    template <class T>
    [[nodiscard]] Expected<T> load(OffsetPtr<T> value) const noexcept {
        static_assert(require_sim_value<T>());
        if (!value) return Status::out_of_range;
        return load<T>(std::uint64_t{value.offset()});
    }
    // As many as there is room for, side by side; out_of_range for null, too.
    template <class T>
    [[nodiscard]] Status load(OffsetPtr<T> first, std::uint64_t index, std::span<T> out) const noexcept {
        static_assert(require_sim_value<T>());
        if (out.empty()) return Status::ok;
        // No image has so many, and none of them is at the place where counting begins anew.
        if (!first || index > UINT32_MAX) return Status::out_of_range;
        return read(first.offset() + index * sizeof(T), std::as_writable_bytes(out));
    }

    // A root of a heap as it was then. Fails with not_found, bad_argument when it is of another size, and
    // corrupt_data when there was no heap.
    template <class T>
    [[nodiscard]] Expected<T> root(const ImageHeap& heap, std::string_view name) const noexcept {
        const auto offset = root_offset(heap.offset_of(heap.segment().data), name, sizeof(T));
        if (!offset) return offset.status();
        return load(OffsetPtr<T>::from_offset(*offset));
    }

private:
    [[nodiscard]] Expected<std::uint32_t> root_offset(std::uint64_t segment, std::string_view name,
                                                      std::size_t bytes) const noexcept;

    const TickView* view_;
};

}  // namespace ouro
