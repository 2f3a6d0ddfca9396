#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/handle.hpp>
#include <ouro/streams/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro::detail {

inline constexpr std::size_t kAssetNameBytes = 64;

struct AssetRecord {
    // Raised when the record gets its next asset: one of a released scope is not that of any handle again.
    std::uint32_t generation;
    // Of the scope it is in, from 1.
    std::uint32_t depth;
    std::size_t offset;
    std::size_t bytes;
    std::array<char, kAssetNameBytes> name;
};

// The records of a stack's assets, in the order of loading: those of a scope go with it, from the end.
class AssetRecords {
public:
    AssetRecords() noexcept = default;
    explicit AssetRecords(Stream stream) noexcept : stream_(std::move(stream)) {}

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] const AssetRecord& at(std::uint32_t index) const noexcept { return records()[index]; }
    // Null for one that is not there any more.
    [[nodiscard]] const AssetRecord* find(std::uint64_t index, std::uint64_t generation) const noexcept {
        if (index >= count_) return nullptr;
        const AssetRecord& record = records()[index];
        return record.generation == generation ? &record : nullptr;
    }

    // Makes room for one more. Fails as Stream::take does.
    Expected<void> reserve_one() noexcept;
    // Requires: room, made by reserve_one().
    std::uint32_t push(const AssetRecord& record) noexcept;
    // Requires: count <= count().
    void cut_to(std::uint32_t count) noexcept { count_ = count; }

    [[nodiscard]] const StreamRefusal& last_refusal() const noexcept { return stream_.last_refusal(); }

private:
    [[nodiscard]] AssetRecord* records() const noexcept {
        return reinterpret_cast<AssetRecord*>(stream_.range().data);
    }

    // All records that there ever were lie before its cursor, with their generations.
    Stream stream_;
    std::uint32_t count_ = 0;
    std::uint32_t made_ = 0;
};

}  // namespace ouro::detail
