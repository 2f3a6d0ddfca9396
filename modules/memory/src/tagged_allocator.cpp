#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/observer.hpp>
#include <ouro/memory/tagged_allocator.hpp>

namespace ouro {
namespace detail {

TaggedResource::TaggedResource(MemoryResource& upstream, const Options& options) noexcept
    : upstream_(upstream),
      name_(options.name),
      tag_(options.tag),
      budget_bytes_(options.budget_bytes),
      use_(upstream.info().thread_safety == ThreadSafety::single_thread) {}

Expected<MemoryBlock> TaggedResource::reallocate_counted(MemoryBlock block, std::size_t new_size,
                                                         std::size_t alignment) noexcept {
    if (block.is_null()) return allocate(new_size, alignment);
    const auto changed = change(&MemoryResource::reallocate, block, new_size, alignment);
    return changed ? changed : fail(changed.status(), block, new_size, alignment);
}

Expected<MemoryBlock> TaggedResource::change(Change function, MemoryBlock block, std::size_t new_size,
                                             std::size_t alignment) noexcept {
    const std::size_t growth = new_size > block.size ? new_size - block.size : 0;
    Status status = check_allocation(new_size, alignment);
    std::size_t sum = 0;
    if (status == Status::ok && new_size < block.size && open_marks_.load(std::memory_order_relaxed) != 0)
        status = Status::busy;
    if (status == Status::ok && growth != 0) status = admit(growth, sum);
    if (status != Status::ok) return status;
    const auto given = (upstream_.*function)(block, new_size, alignment);
    if (!given) {
        if (growth != 0) use_.release(growth, *this);
        return given;
    }
    if (new_size < block.size) use_.release(block.size - new_size, *this, block.data);
    use_.confirm(sum);
    use_.count_reallocation(growth);
    const MemoryBlock changed{given->data, new_size};
    if (has_observers()) {
        raise(&MemoryObserver::on_reallocate, {.resource = this,
                                               .tag = tag_,
                                               .block = changed,
                                               .old_block = block,
                                               .asked_bytes = new_size,
                                               .alignment = alignment});
    }
    return changed;
}

Expected<ResourceMark> TaggedResource::place_counted_mark() noexcept {
    auto mark = upstream_.place_mark();
    if (!mark) return mark;
    const Counts now = counts();
    const std::size_t open = open_marks_.load(std::memory_order_relaxed);
    if (!mark->push({now.live_bytes, now.live_blocks, open})) {
        // Those below shall not wait for the end of a mark that nobody has.
        upstream_.free_since(*mark);
        return Status::capacity_exhausted;
    }
    open_marks_.store(open + 1, std::memory_order_relaxed);
    return mark;
}

void TaggedResource::free_counted_since(ResourceMark mark) noexcept {
    const ResourceMark::Level then = mark.pop();
    const Counts now = counts();
    OURO_BLOCK_ASSERT(then.bytes <= now.live_bytes && then.blocks <= now.live_blocks,
                      "what is older than the mark was freed already", *this, nullptr);
    upstream_.free_since(mark);
    open_marks_.store(then.marks, std::memory_order_relaxed);
    use_.release(now.live_bytes - then.bytes, *this);
    use_.count_deallocations(now.live_blocks - then.blocks);
}

Expected<MemoryBlock> TaggedResource::fail(Status status, MemoryBlock old_block, std::size_t size,
                                           std::size_t alignment) noexcept {
    failures_[static_cast<std::size_t>(status)].fetch_add(1, std::memory_order_relaxed);
    raise(&MemoryObserver::on_failure, {.resource = this,
                                        .tag = tag_,
                                        .status = status,
                                        .old_block = old_block,
                                        .asked_bytes = size,
                                        .alignment = alignment});
    return status;
}

void TaggedResource::tell(EventCall call, MemoryBlock block, std::size_t alignment) const noexcept {
    raise_to_all(
        call,
        {.resource = this, .tag = tag_, .block = block, .asked_bytes = block.size, .alignment = alignment});
}

TaggedResource::Counts TaggedResource::counts() const noexcept {
    const UseCounter::Totals totals = use_.totals();
    Counts counts{.live_bytes = use_.live_bytes(),
                  .peak_bytes = use_.peak_bytes(),
                  .allocations = totals.allocations,
                  .deallocations = totals.deallocations,
                  .reallocations = totals.reallocations,
                  .allocated_bytes = totals.allocated_bytes};
    if (totals.allocations > totals.deallocations)
        counts.live_blocks = static_cast<std::size_t>(totals.allocations - totals.deallocations);
    for (const auto& failures : failures_)
        counts.failures += failures.load(std::memory_order_relaxed);
    return counts;
}

std::uint64_t TaggedResource::failures(Status status) const noexcept {
    return failures_[static_cast<std::size_t>(status)].load(std::memory_order_relaxed);
}

ResourceInfo TaggedResource::named_info() const noexcept {
    ResourceInfo info = upstream_.info();
    info.name = name_ != nullptr ? std::string_view(name_) : tag_name(tag_);
    return info;
}

ResourceStats TaggedResource::counted_stats() const noexcept {
    const Counts own = counts();
    ResourceStats stats = upstream_.stats();
    stats.live_bytes = own.live_bytes;
    stats.peak_bytes = own.peak_bytes;
    stats.live_blocks = own.live_blocks;
    stats.allocations = own.allocations;
    stats.failures = own.failures;
    return stats;
}

Status TaggedResource::check_counts() const noexcept {
    const Counts own = counts();
    const bool sound = own.peak_bytes >= own.live_bytes && own.live_bytes >= own.live_blocks &&
                       own.deallocations <= own.allocations && own.allocated_bytes >= own.live_bytes;
    const bool empty_alike = (own.live_bytes == 0) == (own.live_blocks == 0);
    return sound && empty_alike ? upstream_.check() : Status::corrupt_data;
}

}  // namespace detail

// One call away: what is below is another, by its table.
template <>
Expected<MemoryBlock> TaggedAllocator::allocate(std::size_t size, std::size_t alignment) noexcept {
    return allocate_from(upstream(), size, alignment);
}

template <>
void TaggedAllocator::deallocate(MemoryBlock block, std::size_t alignment) noexcept {
    deallocate_to(upstream(), block, alignment);
}

}  // namespace ouro
