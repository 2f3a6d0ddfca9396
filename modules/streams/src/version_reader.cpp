#include "version_reader.hpp"

namespace ouro::detail {

bool apply_bytes(const PackedRecord& record, const std::byte* bytes, std::byte* page) noexcept {
    const std::span packed(bytes, record.bytes);
    if (record.bytes == record.packed_bytes) return apply_difference(packed, page);
    alignas(64) std::array<std::byte, kMaxPackedBytes> whole;
    const std::span to = std::span(whole).first(record.packed_bytes);
    return unsqueeze(packed, to) && apply_difference(to, page);
}

}  // namespace ouro::detail
