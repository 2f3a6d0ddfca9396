#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/streams/tick_view.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace ouro {

// The bytes of an image, wherever they are: the image of a ring, a past tick, a saved image, another
// process's. A small value that refers to them.
class ImageBytes {
public:
    // Copies a range; anything but ok when it is not all there. May be called from one thread at a time.
    using Read = Status (*)(const void* context, std::uint64_t offset, std::span<std::byte> out) noexcept;

    constexpr ImageBytes(Read source, const void* context) noexcept : read_(source), context_(context) {}
    // Side by side, from the header's page on.
    constexpr ImageBytes(std::span<const std::byte> image) noexcept
        : context_(image.data()), bytes_(image.size()) {}
    // The view outlives it.
    ImageBytes(const TickView& view) noexcept
        : read_([](const void* context, std::uint64_t offset, std::span<std::byte> out) noexcept {
              return static_cast<const TickView*>(context)->read(offset, out);
          }),
          context_(&view) {}

    // out_of_range, or as the source fails.
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::byte> out) const noexcept {
        if (read_ != nullptr) return read_(context_, offset, out);
        if (offset > bytes_ || out.size() > bytes_ - offset) return Status::out_of_range;
        // Nothing may be where no bytes are.
        if (!out.empty())
            std::memcpy(out.data(),
                        static_cast<const std::byte*>(context_) + static_cast<std::size_t>(offset),
                        out.size());
        return Status::ok;
    }
    template <class T>
        requires std::is_trivially_copyable_v<T>
    [[nodiscard]] Expected<T> load(std::uint64_t offset) const noexcept {
        T value{};
        const Status status = read(offset, std::as_writable_bytes(std::span(&value, 1)));
        if (status != Status::ok) return status;
        return value;
    }

private:
    Read read_ = nullptr;
    const void* context_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace ouro
