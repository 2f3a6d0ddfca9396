#include <ouro/base/align.hpp>
#include <ouro/memory/shared_region.hpp>

#include <cstring>
#include <new>
#include <utility>

namespace ouro {

using detail::kClassBytes;
using detail::shared::Geometry;
using detail::shared::kClasses;
using detail::shared::kUnitBytes;

namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) noexcept {
    return units_of(value, step) * step;
}

// Where the parts lie in a region of that size; no units when there is no room for any.
Geometry plan(std::uint64_t bytes, std::uint32_t cache_count) noexcept {
    constexpr std::uint64_t kLine = 64;
    constexpr std::uint64_t kUnitAndRecord = kUnitBytes + sizeof(detail::shared::Unit);
    const std::uint64_t cache_bytes = std::uint64_t{cache_count} * sizeof(detail::shared::Cache);
    // A guess that leaves out what is rounded; then fewer until all of it fits.
    std::uint64_t count = (bytes - std::min(bytes, cache_bytes)) / kUnitAndRecord;
    for (; count != 0; --count) {
        const std::uint64_t taken = sizeof(detail::shared::Header);
        const std::uint64_t taken_end = taken + units_of<std::uint64_t>(count, 64) * sizeof(std::uint64_t);
        const std::uint64_t records = round_up(taken_end, kLine);
        const std::uint64_t caches = round_up(records + count * sizeof(detail::shared::Unit), kLine);
        const std::uint64_t units = round_up(caches + cache_bytes, kUnitBytes);
        if (units + count * kUnitBytes > bytes) continue;
        return {.bytes = bytes,
                .cache_count = cache_count,
                .unit_count = static_cast<std::uint32_t>(count),
                .taken_offset = static_cast<std::uint32_t>(taken),
                .records_offset = static_cast<std::uint32_t>(records),
                .caches_offset = static_cast<std::uint32_t>(caches),
                .units_offset = static_cast<std::uint32_t>(units)};
    }
    return {};
}

}  // namespace

SharedRegion::SharedRegion(std::byte* memory) noexcept
    : header_(reinterpret_cast<Header*>(memory)), base_(memory) {
    const Geometry& geometry = header_->geometry;
    bytes_ = static_cast<std::size_t>(geometry.bytes);
    taken_ = reinterpret_cast<std::atomic<std::uint64_t>*>(memory + geometry.taken_offset);
    units_ = reinterpret_cast<Unit*>(memory + geometry.records_offset);
    caches_ = reinterpret_cast<Cache*>(memory + geometry.caches_offset);
    unit_count_ = geometry.unit_count;
    first_offset_ = geometry.units_offset;
}

Expected<SharedRegion> SharedRegion::create(MemoryBlock memory) noexcept {
    return create(memory, Options{});
}

Expected<SharedRegion> SharedRegion::create(MemoryBlock memory, const Options& options) noexcept {
    if (!is_aligned(memory.data, kAlignment)) return Status::bad_alignment;
    if (options.max_caches == 0 || options.max_caches > kMaxCaches) return Status::bad_argument;
    if (std::uint64_t{memory.size} > kMaxBytes) return Status::size_overflow;
    const Geometry geometry = plan(memory.size, options.max_caches);
    if (geometry.unit_count < detail::shared::slab_units(kClasses - 1)) return Status::capacity_exhausted;
    std::memset(memory.data, 0, geometry.units_offset);
    auto* const header = ::new (memory.data) Header{};
    header->version = Header::kVersion;
    header->geometry = geometry;
    header->magic = Header::kMagic;
    return SharedRegion(memory.data);
}

Expected<SharedRegion> SharedRegion::attach(MemoryBlock memory) noexcept {
    if (!is_aligned(memory.data, kAlignment)) return Status::bad_alignment;
    if (memory.size < sizeof(Header)) return Status::wrong_format;
    const auto* const header = reinterpret_cast<const Header*>(memory.data);
    if (header->magic != Header::kMagic || header->version != Header::kVersion) return Status::wrong_format;
    const Geometry geometry = header->geometry;
    if (geometry.bytes > memory.size) return Status::out_of_range;
    const bool is_sound = std::uint64_t{geometry.bytes} <= kMaxBytes && geometry.cache_count != 0 &&
                          geometry.cache_count <= kMaxCaches && geometry.unit_count != 0 &&
                          geometry == plan(geometry.bytes, geometry.cache_count);
    if (!is_sound) return Status::corrupt_data;
    return SharedRegion(memory.data);
}

Expected<SharedCache> SharedRegion::claim_cache(std::uint64_t owner) const noexcept {
    if (owner == 0) return Status::bad_argument;
    for (std::uint32_t index = 0; index < cache_count(); ++index) {
        std::uint64_t nobody = 0;
        if (cache(index).owner.compare_exchange_strong(nobody, owner, std::memory_order_acquire,
                                                       std::memory_order_relaxed))
            return SharedCache(*this, index);
    }
    return Status::capacity_exhausted;
}

std::uint64_t SharedRegion::owner_of(std::uint32_t index) const noexcept {
    OURO_ASSERT(index < cache_count(), "the region has fewer caches");
    return cache(index).owner.load(std::memory_order_relaxed);
}

std::uint32_t SharedRegion::reclaim_caches(std::uint64_t dead, std::uint64_t own) const noexcept {
    OURO_ASSERT(dead != 0 && own != 0 && dead != own, "somebody takes over from somebody else");
    std::uint32_t count = 0;
    for (std::uint32_t index = 0; index < cache_count(); ++index) {
        std::uint64_t owner = dead;
        if (!cache(index).owner.compare_exchange_strong(owner, own, std::memory_order_acq_rel)) continue;
        put_down_all_of(index);
        // Its end gives back what is in it.
        const SharedCache taken_over(*this, index);
        ++count;
    }
    return count;
}

bool SharedRegion::owns(const void* address) const noexcept {
    const MemoryBlock blocks{base_ + first_offset_, std::size_t{unit_count_} * kUnitBytes};
    return blocks.contains(address);
}

SharedRegionStats SharedRegion::stats() const noexcept {
    SharedRegionStats stats;
    std::uint64_t freed_bytes = 0;
    std::uint64_t deallocations = 0;
    for (std::uint32_t index = 0; index < cache_count(); ++index) {
        const Cache& each = cache(index);
        stats.allocations += each.allocations.load(std::memory_order_relaxed);
        stats.live_bytes += each.allocated_bytes.load(std::memory_order_relaxed);
        deallocations += each.deallocations.load(std::memory_order_relaxed);
        freed_bytes += each.freed_bytes.load(std::memory_order_relaxed);
        stats.failures += each.failures.load(std::memory_order_relaxed);
        if (owner_of(index) != 0) ++stats.claimed_caches;
        for (unsigned size_class = 0; size_class < kClasses; ++size_class)
            stats.cached_bytes += std::uint64_t{each.counts[size_class].load(std::memory_order_relaxed)} *
                                  kClassBytes[size_class];
    }
    stats.live_blocks = stats.allocations - deallocations;
    stats.live_bytes -= freed_bytes;
    stats.unit_bytes = std::uint64_t{unit_count_} * kUnitBytes;
    stats.taken_bytes = header_->taken_units.load(std::memory_order_relaxed) * kUnitBytes;
    stats.peak_bytes = header_->peak_units.load(std::memory_order_relaxed) * kUnitBytes;
    return stats;
}

}  // namespace ouro
