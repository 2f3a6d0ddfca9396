#pragma once

#include "listing_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace ouro::detail {

// What a ListingWriter writes into: as much as fits, with a zero at the end. Requires: room for the zero.
class TextTarget {
public:
    explicit TextTarget(std::span<char> text) noexcept : text_(text) {}

    [[nodiscard]] ByteSink sink() noexcept { return {append, this}; }
    // Ends the text and returns it.
    std::string_view finish() noexcept {
        text_[used_] = '\0';
        return {text_.data(), used_};
    }

private:
    static void append(void* context, std::string_view bytes) {
        auto& target = *static_cast<TextTarget*>(context);
        const std::size_t count = std::min(bytes.size(), target.text_.size() - 1 - target.used_);
        std::copy_n(bytes.data(), count, target.text_.data() + target.used_);
        target.used_ += count;
    }

    std::span<char> text_;
    std::size_t used_ = 0;
};

}  // namespace ouro::detail
