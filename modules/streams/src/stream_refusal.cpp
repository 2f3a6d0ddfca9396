#include "listing_writer.hpp"

#include <ouro/streams/stream_refusal.hpp>

#include <algorithm>

namespace ouro {
namespace {

struct Target {
    std::span<char> text;
    std::size_t used = 0;
};

void append(void* context, std::string_view bytes) {
    auto& target = *static_cast<Target*>(context);
    const std::size_t count = std::min(bytes.size(), target.text.size() - target.used);
    std::copy_n(bytes.data(), count, target.text.data() + target.used);
    target.used += count;
}

}  // namespace

std::string_view describe_refusal(const StreamRefusal& refusal, std::span<char> text) noexcept {
    if (text.empty()) return {};
    Target target{text.first(text.size() - 1)};
    detail::ListingWriter writer({append, &target});
    if (refusal.status == Status::ok) {
        writer.text("nothing was refused");
    } else {
        writer.text("stream '").text(refusal.name()).text("' was refused ").number(refusal.wanted_bytes);
        writer.text(" bytes: ").text(status_name(refusal.status)).text(" (");
        writer.number(refusal.reserved_bytes).text(" reserved, ");
        writer.number(refusal.committed_bytes).text(" committed)");
    }
    text[target.used] = '\0';
    return {text.data(), target.used};
}

}  // namespace ouro
