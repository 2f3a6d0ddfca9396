#include "text_target.hpp"

#include <ouro/streams/stream_refusal.hpp>

namespace ouro {

std::string_view describe_refusal(const StreamRefusal& refusal, std::span<char> text) noexcept {
    if (text.empty()) return {};
    detail::TextTarget target(text);
    detail::ListingWriter writer(target.sink());
    if (refusal.status == Status::ok) {
        writer.text("nothing was refused");
    } else {
        writer.text("stream '").text(refusal.name()).text("' was refused ").number(refusal.wanted_bytes);
        writer.text(" bytes: ").text(status_name(refusal.status)).text(" (");
        writer.number(refusal.reserved_bytes).text(" reserved, ");
        writer.number(refusal.committed_bytes).text(" committed)");
    }
    return target.finish();
}

}  // namespace ouro
