#include <ouro/streams/past_reader.hpp>

namespace ouro {

Expected<std::uint32_t> PastReader::root_offset(std::uint64_t segment, std::string_view name,
                                                std::size_t bytes) const noexcept {
    const auto header = load<ImageHeapHeader>(segment);
    if (!header) return header.status();
    if (header->magic != ImageHeapHeader::kMagic || header->version != ImageHeapHeader::kVersion)
        return Status::corrupt_data;
    for (const ImageHeapHeader::Root& root : header->roots) {
        if (root.offset == 0 || root.name != name) continue;
        if (root.bytes != bytes) return Status::bad_argument;
        return root.offset;
    }
    return Status::not_found;
}

}  // namespace ouro
