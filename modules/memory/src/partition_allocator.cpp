#include <ouro/base/bits.hpp>
#include <ouro/memory/partition_allocator.hpp>
#include <ouro/os/virtual_memory.hpp>

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
    // Addresses, with the span that nobody uses before the next partition.
    std::size_t stride = 0;
};

// Each fits where max_bytes does: bookkeeping is smaller than what it is about.
Expected<Shares> shares_of(const PartitionOptions& options, bool commits) noexcept {
    if (options.max_bytes == 0) return Status::zero_size;
    Shares shares;
    shares.spans = units_of(options.max_bytes, kSpanBytes);
    if (shares.spans >= partition::kNoSpan) return Status::size_overflow;
    shares.bitmap_bytes = align_up(words_for_bits(shares.spans) * sizeof(std::uint64_t), kLine);
    shares.metadata_bytes =
        align_up(sizeof(Partition), kLine) + shares.bitmap_bytes + shares.spans * sizeof(Span);
    const auto stride = checked_multiply(shares.spans + (commits ? 1 : 0), kSpanBytes);
    if (!stride) return stride.status();
    shares.stride = *stride;
    return shares;
}

std::size_t index_bytes(std::size_t count) noexcept {
    return align_up(count * sizeof(Partition*), kLine);
}

}  // namespace

Expected<PartitionAllocator::Layout> PartitionAllocator::plan(const Options& options, bool commits) noexcept {
    if (options.partitions.empty()) return Status::bad_argument;
    Layout layout{.address_bytes = 0, .metadata_bytes = index_bytes(options.partitions.size())};
    for (const PartitionOptions& each : options.partitions) {
        const bool can_guard = commits && os::page_size() < kSpanBytes;
        if (each.guards != PartitionGuards::none && !can_guard) return Status::not_supported;
        const auto shares = shares_of(each, commits);
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
    auto addresses =
        os::Reservation::create({.bytes = layout->address_bytes, .alignment = kSpanBytes}, os::page_size());
    if (!addresses) return addresses.status();
    PartitionAllocator set;
    set.own_metadata_ = *std::move(metadata);
    set.own_addresses_ = *std::move(addresses);
    set.build(options, set.own_metadata_.block(), set.own_addresses_.block(), true);
    return set;
}

Expected<PartitionAllocator> PartitionAllocator::create_on(MemoryResource& upstream,
                                                           const Options& options) noexcept {
    const auto layout = plan(options, false);
    if (!layout) return layout.status();
    const auto metadata = upstream.allocate(layout->metadata_bytes, kLine);
    if (!metadata) return metadata.status();
    const auto addresses = upstream.allocate(layout->address_bytes, kSpanBytes);
    if (!addresses) {
        upstream.deallocate(*metadata, kLine);
        return addresses.status();
    }
    std::memset(metadata->data, 0, metadata->size);
    PartitionAllocator set;
    set.upstream_ = &upstream;
    set.build(options, *metadata, *addresses, false);
    return set;
}

void PartitionAllocator::build(const Options& options, MemoryBlock metadata, MemoryBlock addresses,
                               bool commits) noexcept {
    metadata_ = metadata;
    addresses_ = addresses;
    count_ = options.partitions.size();
    partitions_ = reinterpret_cast<Partition**>(metadata.data);
    std::byte* place = metadata.data + index_bytes(count_);
    std::byte* begin = addresses.data;
    for (std::size_t index = 0; index < count_; ++index) {
        const PartitionOptions& each = options.partitions[index];
        const Shares shares = *shares_of(each, commits);
        std::byte* bitmap = place + align_up(sizeof(Partition), kLine);
        const Partition::Site site{
            .addresses = {begin, shares.spans * kSpanBytes},
            .unused_spans = {reinterpret_cast<std::uint64_t*>(bitmap), words_for_bits(shares.spans)},
            .spans = reinterpret_cast<Span*>(bitmap + shares.bitmap_bytes),
            .commits = commits};
        partitions_[index] = ::new (place) Partition(each, site);
        place += shares.metadata_bytes;
        begin += shares.stride;
    }
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
    count_ = std::exchange(other.count_, 0);
}

void PartitionAllocator::release() noexcept {
    for (std::size_t index = 0; index < count_; ++index)
        std::destroy_at(partitions_[index]);
    count_ = 0;
    if (upstream_ == nullptr) return;
    upstream_->deallocate(addresses_, kSpanBytes);
    upstream_->deallocate(metadata_, kLine);
    upstream_ = nullptr;
}

Partition* PartitionAllocator::find(std::string_view name) noexcept {
    for (std::size_t index = 0; index < count_; ++index) {
        if (partitions_[index]->info().name == name) return partitions_[index];
    }
    return nullptr;
}

// Partitions lie in the order of their addresses.
Partition* PartitionAllocator::owner_of(const void* address) noexcept {
    std::size_t low = 0;
    std::size_t high = count_;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        Partition* partition = partitions_[middle];
        if (partition->owns(address)) return partition;
        if (reinterpret_cast<std::uintptr_t>(address) <
            reinterpret_cast<std::uintptr_t>(partition->addresses().data)) {
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
    const std::byte* end = addresses_.data;
    for (std::size_t index = 0; index < count_; ++index) {
        const MemoryBlock own = partitions_[index]->addresses();
        if (own.data < end || !addresses_.contains(own)) return Status::corrupt_data;
        end = own.end();
        const Status status = partitions_[index]->check();
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
