#include "owner_text.hpp"
#include "text_target.hpp"

#include <ouro/streams/verifier.hpp>

namespace ouro {

std::string_view describe_finding(const Finding& finding, std::span<char> text) noexcept {
    if (text.empty()) return {};
    detail::TextTarget target(text);
    detail::ListingWriter writer(target.sink());
    writer.text(finding_name(finding.kind)).text(": ").number(finding.bytes);
    writer.text(finding.bytes == 1 ? " byte at " : " bytes at ");
    writer.address(reinterpret_cast<std::uintptr_t>(finding.address)).text(" (");
    if (!finding.segment.empty()) writer.text("segment '").text(finding.segment).text("', ");
    writer.text("image offset ").number(finding.offset).text("): ");
    detail::write_owner(writer, finding.owner, finding.offset);
    return target.finish();
}

}  // namespace ouro
