#pragma once

#include "image_pages.hpp"

#include <ouro/streams/saved_image.hpp>

namespace ouro::detail {

// Reads a saved image of which every page is asked for before it is taken: ok, or why it is refused.
struct SavedPages {
    using Accept = Status (*)(void* context, ImagePage page) noexcept;

    [[nodiscard]] static Expected<SavedImage> read(ImageSource source, Accept accept, void* context) noexcept;

private:
    [[nodiscard]] static Status take(SavedImage& image, ImagePage page) noexcept;
};

}  // namespace ouro::detail
