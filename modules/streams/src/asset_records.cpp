#include <ouro/streams/detail/asset_records.hpp>

#include <memory>

namespace ouro::detail {

Expected<void> AssetRecords::reserve_one() noexcept {
    if (count_ < made_) return {};
    const auto room = stream_.take(sizeof(AssetRecord), alignof(AssetRecord));
    if (!room) return room.status();
    std::construct_at(reinterpret_cast<AssetRecord*>(room->data));
    ++made_;
    return {};
}

std::uint32_t AssetRecords::push(const AssetRecord& record) noexcept {
    OURO_DEBUG_ASSERT(count_ < made_, "room for a record is made before it is filled");
    AssetRecord& target = records()[count_];
    const std::uint32_t generation = target.generation;
    target = record;
    constexpr auto kLast = ~std::uint32_t{0};
    target.generation = generation == kLast ? 1 : generation + 1;
    return count_++;
}

}  // namespace ouro::detail
