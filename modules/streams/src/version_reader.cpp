#include "version_reader.hpp"

namespace ouro::detail {

bool apply_record(const SlotStore& slots, const PackedStore& packed, std::uint32_t word,
                  std::byte* page) noexcept {
    const PackedRecord record = PackedStore::record(slots, word);
    if (record.bytes > kMaxPackedBytes || record.packed_bytes > kMaxPackedBytes) return false;
    alignas(64) std::array<std::byte, kMaxPackedBytes> gathered;
    const std::span bytes(packed.bytes_of(slots, word, gathered.data()), record.bytes);
    if (record.bytes == record.packed_bytes) return apply_difference(bytes, page);
    alignas(64) std::array<std::byte, kMaxPackedBytes> whole;
    const std::span to = std::span(whole).first(record.packed_bytes);
    return unsqueeze(bytes, to) && apply_difference(to, page);
}

}  // namespace ouro::detail
