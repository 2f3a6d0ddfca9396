#include "partition_heap.hpp"

#include <ouro/base/bits.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace ouro {

using partition::kSpanBytes;
using partition::Span;

// How many bytes all partitions need, and their bookkeeping.
struct PartitionAllocator::Layout {
    std::size_t address_bytes = 0;
    std::size_t metadata_bytes = 0;
};

namespace {

// Each partition's bookkeeping starts on a cache line, so that those of different threads do not meet.
constexpr std::size_t kLine = alignof(Span);
static_assert(kLine >= alignof(Partition));

struct Shares {
    std::size_t spans = 0;
    std::size_t bitmap_bytes = 0;
    std::size_t metadata_bytes = 0;
    // Of the set's addresses, with the span that nobody uses before the next partition; none where a heap has
    // its own.
    std::size_t stride = 0;
};

// A partition that is a heap brings its own bookkeeping, and its own addresses where memory is committed.
Expected<Shares> shares_of_heap(std::size_t spans, bool commits) noexcept {
    // As bookkeeping is smaller than what it is about.
    const auto most = checked_multiply(spans + 1, 2 * kSpanBytes);
    if (!most) return most.status();
    return Shares{.spans = spans,
                  .metadata_bytes = align_up(sizeof(Partition), kLine),
                  .stride = commits ? 0 : partition::heap_region_bytes(spans)};
}

// Each fits where max_bytes does: bookkeeping is smaller than what it is about.
Expected<Shares> shares_of(const PartitionOptions& options, bool is_heap, bool commits) noexcept {
    if (options.max_bytes == 0) return Status::zero_size;
    Shares shares;
    shares.spans = units_of(options.max_bytes, kSpanBytes);
    if (shares.spans >= partition::kNoSpan) return Status::size_overflow;
    if (is_heap) return shares_of_heap(shares.spans, commits);
    shares.bitmap_bytes = align_up(words_for_bits(shares.spans) * sizeof(std::uint64_t), kLine);
    shares.metadata_bytes =
        align_up(sizeof(Partition), kLine) + shares.bitmap_bytes + shares.spans * sizeof(Span);
    const auto stride = checked_multiply(shares.spans + (commits ? 1 : 0), kSpanBytes);
    if (!stride) return stride.status();
    shares.stride = *stride;
    return shares;
}

std::uintptr_t number_of(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address);
}

// In the order given, and in that of the addresses.
std::size_t index_bytes(std::size_t count) noexcept {
    return align_up(2 * count * sizeof(Partition*), kLine);
}

}  // namespace

Expected<PartitionAllocator::Layout> PartitionAllocator::plan(const Options& options, bool commits) noexcept {
    if (options.partitions.empty()) return Status::bad_argument;
    Layout layout{.address_bytes = 0, .metadata_bytes = index_bytes(options.partitions.size())};
    for (const PartitionOptions& each : options.partitions) {
        const bool can_guard = commits && os::page_size() < kSpanBytes;
        if (each.guards != PartitionGuards::none && !can_guard) return Status::not_supported;
        const auto shares = shares_of(each, Partition::needs_heap(each), commits);
        if (!shares) return shares.status();
        const auto addresses = checked_add(layout.address_bytes, shares->stride);
        const auto metadata = checked_add(layout.metadata_bytes, shares->metadata_bytes);
        if (!addresses || !metadata) return Status::size_overflow;
        layout = {*addresses, *metadata};
    }
    return layout;
}

Expected<PartitionAllocator> PartitionAllocator::create(const Options& options) noexcept {
    const auto layout = plan(options, true);
    if (!layout) return layout.status();
    auto metadata = os::Reservation::create({.bytes = layout->metadata_bytes}, os::page_size());
    if (!metadata) return metadata.status();
    if (const auto committed = metadata->commit(0, metadata->block().size); !committed)
        return committed.status();
    PartitionAllocator set;
    // None where every partition is a heap.
    if (layout->address_bytes != 0) {
        auto addresses = os::Reservation::create({.bytes = layout->address_bytes, .alignment = kSpanBytes},
                                                 os::page_size());
        if (!addresses) return addresses.status();
        set.own_addresses_ = *std::move(addresses);
    }
    set.own_metadata_ = *std::move(metadata);
    set.metadata_ = set.own_metadata_.block();
    set.addresses_ = set.own_addresses_.block();
    const Status built = set.build(options, true);
    if (built != Status::ok) return built;
    return set;
}

Expected<PartitionAllocator> PartitionAllocator::create_on(MemoryResource& upstream,
                                                           const Options& options) noexcept {
    const auto layout = plan(options, false);
    if (!layout) return layout.status();
    // The large one first: what has memory in chunks then finds room for the other behind it.
    const auto addresses = upstream.allocate(layout->address_bytes, kSpanBytes);
    if (!addresses) return addresses.status();
    const auto metadata = upstream.allocate(layout->metadata_bytes, kLine);
    if (!metadata) {
        upstream.deallocate(*addresses, kSpanBytes);
        return metadata.status();
    }
    std::memset(metadata->data, 0, metadata->size);
    PartitionAllocator set;
    set.upstream_ = &upstream;
    set.metadata_ = *metadata;
    set.addresses_ = *addresses;
    const Status built = set.build(options, false);
    if (built != Status::ok) return built;
    return set;
}

Status PartitionAllocator::build(const Options& options, bool commits) noexcept {
    const std::size_t count = options.partitions.size();
    partitions_ = reinterpret_cast<Partition**>(metadata_.data);
    by_address_ = partitions_ + count;
    std::byte* place = metadata_.data + index_bytes(count);
    std::byte* begin = addresses_.data;
    for (const PartitionOptions& each : options.partitions) {
        const bool is_heap = Partition::needs_heap(each);
        const Shares shares = *shares_of(each, is_heap, commits);
        if (is_heap) {
            const MemoryBlock region = commits ? MemoryBlock{} : MemoryBlock{begin, shares.stride};
            auto heap = partition::make_heap(each, shares.spans, region);
            if (!heap) return heap.status();
            partitions_[count_] = ::new (place) Partition(each, *std::move(heap));
        } else {
            std::byte* bitmap = place + align_up(sizeof(Partition), kLine);
            const Partition::Site site{
                .addresses = {begin, shares.spans * kSpanBytes},
                .unused_spans = {reinterpret_cast<std::uint64_t*>(bitmap), words_for_bits(shares.spans)},
                .spans = reinterpret_cast<Span*>(bitmap + shares.bitmap_bytes),
                .commits = commits};
            partitions_[count_] = ::new (place) Partition(each, site);
        }
        ++count_;
        place += shares.metadata_bytes;
        begin += shares.stride;
    }
    std::copy_n(partitions_, count, by_address_);
    std::sort(by_address_, by_address_ + count, [](const Partition* one, const Partition* other) {
        return number_of(one->addresses().data) < number_of(other->addresses().data);
    });
    return Status::ok;
}

PartitionAllocator::PartitionAllocator(PartitionAllocator&& other) noexcept {
    take_from(other);
}

PartitionAllocator& PartitionAllocator::operator=(PartitionAllocator&& other) noexcept {
    if (this != &other) {
        release();
        take_from(other);
    }
    return *this;
}

PartitionAllocator::~PartitionAllocator() {
    release();
}

void PartitionAllocator::take_from(PartitionAllocator& other) noexcept {
    own_metadata_ = std::move(other.own_metadata_);
    own_addresses_ = std::move(other.own_addresses_);
    upstream_ = std::exchange(other.upstream_, nullptr);
    metadata_ = std::exchange(other.metadata_, {});
    addresses_ = std::exchange(other.addresses_, {});
    partitions_ = std::exchange(other.partitions_, nullptr);
    by_address_ = std::exchange(other.by_address_, nullptr);
    count_ = std::exchange(other.count_, 0);
}

void PartitionAllocator::release() noexcept {
    for (std::size_t index = 0; index < count_; ++index)
        std::destroy_at(partitions_[index]);
    count_ = 0;
    if (upstream_ == nullptr) return;
    upstream_->deallocate(metadata_, kLine);
    upstream_->deallocate(addresses_, kSpanBytes);
    upstream_ = nullptr;
}

Partition* PartitionAllocator::find(std::string_view name) noexcept {
    for (std::size_t index = 0; index < count_; ++index) {
        if (partitions_[index]->info().name == name) return partitions_[index];
    }
    return nullptr;
}

Partition* PartitionAllocator::owner_of(const void* address) noexcept {
    std::size_t low = 0;
    std::size_t high = count_;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        Partition* partition = by_address_[middle];
        if (partition->owns(address)) return partition;
        if (number_of(address) < number_of(partition->addresses().data)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return nullptr;
}

ResourceStats PartitionAllocator::stats() const noexcept {
    ResourceStats sum;
    for (std::size_t index = 0; index < count_; ++index) {
        const ResourceStats each = partitions_[index]->stats();
        sum.live_bytes += each.live_bytes;
        sum.peak_bytes += each.peak_bytes;
        sum.live_blocks += each.live_blocks;
        sum.reserved_bytes += each.reserved_bytes;
        sum.committed_bytes += each.committed_bytes;
        sum.allocations += each.allocations;
        sum.failures += each.failures;
    }
    return sum;
}

Status PartitionAllocator::check() const noexcept {
    std::uintptr_t end = 0;
    for (std::size_t index = 0; index < count_; ++index) {
        const Partition& each = *by_address_[index];
        const MemoryBlock own = each.addresses();
        if (number_of(own.data) < end) return Status::corrupt_data;
        // Heaps have addresses of their own, except on another resource.
        const bool is_elsewhere = each.heap_ && upstream_ == nullptr;
        if (!is_elsewhere && !addresses_.contains(own)) return Status::corrupt_data;
        end = number_of(own.end());
        const Status status = each.check();
        if (status != Status::ok) return status;
    }
    return Status::ok;
}

std::size_t PartitionAllocator::trim() noexcept {
    std::size_t bytes = 0;
    for (std::size_t index = 0; index < count_; ++index)
        bytes += partitions_[index]->trim();
    return bytes;
}

}  // namespace ouro
