#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/remap.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace ouro {
namespace {

using Lock = detail::WordLockScope;

// Up to here sizes are rounded to pages alone; above, steps of an eighth are at least two pages.
constexpr std::size_t kFinePages = 16;

}  // namespace

Expected<std::size_t> SystemAllocator::rounded_size(std::size_t size) noexcept {
    if (size == 0) return Status::zero_size;
    const std::size_t page = os::page_size();
    return checked_align_up(size, size <= kFinePages * page ? page : std::bit_floor(size) / 8);
}

Expected<SystemAllocator> SystemAllocator::create(const Options& options) noexcept {
    auto pages = detail::PageMap::create();
    if (!pages) return pages.status();
    return SystemAllocator(*std::move(pages), options);
}

SystemAllocator::SystemAllocator(detail::PageMap pages, const Options& options) noexcept
    : pages_(std::move(pages)),
      listing_({.name = options.name, .tag = options.tag, .kind = BlockKind::scattered}),
      name_(options.name),
      max_bytes_(options.max_bytes),
      cache_bytes_(options.cache_bytes) {}

SystemAllocator::SystemAllocator(SystemAllocator&& other) noexcept
    : books_(std::exchange(other.books_, {})),
      pages_(std::move(other.pages_)),
      listing_(std::move(other.listing_)),
      name_(other.name_),
      // So that the other one refuses everything, as whatever was moved from does that has a bound.
      max_bytes_(std::exchange(other.max_bytes_, 0)),
      cache_bytes_(other.cache_bytes_) {}

SystemAllocator::~SystemAllocator() {
    release_kept();
    // What had no room to be noted as a hole may have it now that others have gone.
    if (books_.held_back != nullptr) release_kept();
}

// Takes the bytes into account before the system is asked, so that the bound holds for all threads together.
bool SystemAllocator::book(std::size_t bytes) noexcept {
    const Lock lock(lock_);
    if (bytes > max_bytes_ || books_.live_bytes > max_bytes_ - bytes) return false;
    books_.live_bytes += bytes;
    return true;
}

void SystemAllocator::unbook(std::size_t bytes) noexcept {
    const Lock lock(lock_);
    books_.live_bytes -= bytes;
}

Expected<MemoryBlock> SystemAllocator::map_range(std::size_t bytes, std::size_t alignment) noexcept {
    if (const Status growth = check_unsealed(); growth != Status::ok) return growth;
    const auto range = os::reserve({.bytes = bytes, .alignment = std::max(alignment, os::page_size())});
    if (!range) return range;
    Status status = os::commit(*range).status();
    if (status == Status::ok) {
        const Lock lock(lock_);
        status = pages_.add(*range).status();
    }
    if (status == Status::ok) return *range;
    release_unused(*range);
    return status;
}

Expected<MemoryBlock> SystemAllocator::allocate(std::size_t size, std::size_t alignment) noexcept {
    note_allocation();
    const Status asked = check_allocation(size, alignment);
    if (asked != Status::ok) return fail(asked);
    const auto bytes = rounded_size(size);
    if (!bytes) return fail(bytes.status());
    if (!book(*bytes)) return fail(Status::capacity_exhausted);
    {
        const Lock lock(lock_);
        const MemoryBlock cached = take_cached(*bytes, alignment);
        if (!cached.is_null()) {
            ++books_.allocations;
            ++books_.live_blocks;
            books_.peak_bytes = std::max(books_.peak_bytes, books_.live_bytes);
            publish();
            return cached;
        }
    }
    auto range = map_range(*bytes, alignment);
    // What is kept for later may be what is missing now.
    if (!range && trim() != 0) range = map_range(*bytes, alignment);
    return finish(range, *bytes);
}

Expected<MemoryBlock> SystemAllocator::finish(Expected<MemoryBlock> range, std::size_t bytes) noexcept {
    if (!range) {
        unbook(bytes);
        return fail(range.status());
    }
    const Lock lock(lock_);
    ++books_.allocations;
    ++books_.live_blocks;
    books_.peak_bytes = std::max(books_.peak_bytes, books_.live_bytes);
    publish();
    return range;
}

Expected<MemoryBlock> SystemAllocator::fail(Status status) noexcept {
    const Lock lock(lock_);
    ++books_.failures;
    return status;
}

void SystemAllocator::deallocate(MemoryBlock block, [[maybe_unused]] std::size_t alignment) noexcept {
    if (block.is_null()) return;
    OURO_BLOCK_ASSERT(owns(block.data), "the block is not of this allocator, or was freed already", *this,
                      block.data);
    const auto bytes = rounded_size(block.size);
    OURO_BLOCK_ASSERT(bytes && is_aligned(block.data, os::page_size()), "this is no whole block", *this,
                      block.data);
    const MemoryBlock range{block.data, *bytes};
    MemoryBlock evicted;
    bool kept = false;
    const bool sealed = is_sealed();
    {
        const Lock lock(lock_);
        OURO_BLOCK_ASSERT(!is_cached(range), "the block was freed already", *this, block.data);
        books_.live_bytes -= range.size;
        --books_.live_blocks;
        kept = keep(range);
        if (!kept && sealed) {
            hold_back(range);
            kept = true;
        }
        if (!kept && range.size <= cache_bytes_ / 4 && books_.cached != 0) {
            evicted = remove_cached(0);
            kept = keep(range);
        }
        publish();
    }
    if (!evicted.is_null()) release_range(evicted);
    if (!kept) release_range(range);
}

Status SystemAllocator::shrink_in_place(MemoryBlock range, std::size_t new_bytes) noexcept {
    const MemoryBlock tail = range.sub(new_bytes, range.size - new_bytes);
    if (is_sealed()) {
        const Lock lock(lock_);
        hold_back(tail);
        books_.live_bytes -= tail.size;
        publish();
        return Status::ok;
    }
    {
        const Lock lock(lock_);
        pages_.remove(tail);
    }
    const Status released = os::release(tail).status();
    const Lock lock(lock_);
    if (released == Status::ok) {
        books_.live_bytes -= tail.size;
        publish();
    } else {
        (void)pages_.add(tail);
    }
    return released;
}

Status SystemAllocator::grow_in_place(MemoryBlock range, std::size_t new_bytes) noexcept {
    if (const Status growth = check_unsealed(); growth != Status::ok) return growth;
    const std::size_t more = new_bytes - range.size;
    if (!book(more)) return Status::capacity_exhausted;
    if (!os::extend(range, new_bytes)) {
        unbook(more);
        return Status::capacity_exhausted;
    }
    const MemoryBlock tail{range.end(), more};
    {
        const Lock lock(lock_);
        if (pages_.add(tail)) {
            books_.peak_bytes = std::max(books_.peak_bytes, books_.live_bytes);
            publish();
            return Status::ok;
        }
        books_.live_bytes -= more;
    }
    release_unused(tail);
    return Status::out_of_memory;
}

Expected<MemoryBlock> SystemAllocator::reallocate(MemoryBlock block, std::size_t new_size,
                                                  std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return fail(asked);
    if (block.is_null()) return allocate(new_size, alignment);
    OURO_BLOCK_ASSERT(owns(block.data), "the block is not of this allocator, or was freed already", *this,
                      block.data);
    const auto old_bytes = rounded_size(block.size);
    const auto new_bytes = rounded_size(new_size);
    if (!old_bytes || !new_bytes) return fail(Status::size_overflow);
    if (*new_bytes > *old_bytes) note_allocation();
    const Status changed = change_in_place({block.data, *old_bytes}, *new_bytes);
    if (changed == Status::ok) return MemoryBlock{block.data, *new_bytes};
    return move_to_new_block(*this, block, new_size, alignment);
}

Status SystemAllocator::change_in_place(MemoryBlock range, std::size_t new_bytes) noexcept {
    if (new_bytes == range.size) return Status::ok;
    return new_bytes < range.size ? shrink_in_place(range, new_bytes) : grow_in_place(range, new_bytes);
}

Expected<MemoryBlock> SystemAllocator::try_resize(MemoryBlock block, std::size_t new_size,
                                                  std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return asked;
    OURO_BLOCK_ASSERT(owns(block.data), "the block is not of this allocator, or was freed already", *this,
                      block.data);
    const auto old_bytes = rounded_size(block.size);
    const auto new_bytes = rounded_size(new_size);
    if (!old_bytes || !new_bytes) return Status::size_overflow;
    if (*new_bytes > *old_bytes) note_allocation();
    const Status changed = change_in_place({block.data, *old_bytes}, *new_bytes);
    if (changed != Status::ok) return changed;
    return MemoryBlock{block.data, *new_bytes};
}

// Requires: the lock is held. Without events: an observer might allocate here.
void SystemAllocator::publish() noexcept {
    const std::size_t held = books_.held_bytes() + books_.lost_bytes;
    listing_.update_reserved(held);
    listing_.update_silently(held, books_.live_bytes, books_.peak_bytes);
}

ResourceInfo SystemAllocator::info() const noexcept {
    return {.name = name_, .thread_safety = ThreadSafety::any_thread, .frees_blocks = true};
}

ResourceStats SystemAllocator::stats() const noexcept {
    const Lock lock(lock_);
    const std::size_t held = books_.held_bytes();
    return {.live_bytes = books_.live_bytes,
            .peak_bytes = books_.peak_bytes,
            .live_blocks = books_.live_blocks,
            .reserved_bytes = held + books_.lost_bytes,
            .committed_bytes = held,
            .allocations = books_.allocations,
            .failures = books_.failures};
}

Status SystemAllocator::check() const noexcept {
    const Lock lock(lock_);
    std::size_t cached_bytes = 0;
    for (std::size_t i = 0; i < books_.cached; ++i) {
        cached_bytes += books_.cache[i].size;
        if (!pages_.contains_all(books_.cache[i])) return Status::corrupt_data;
    }
    std::size_t held_back_bytes = 0;
    for (HeldRange* each = books_.held_back; each != nullptr; each = each->next) {
        if (!pages_.contains_all({reinterpret_cast<std::byte*>(each), each->bytes}))
            return Status::corrupt_data;
        held_back_bytes += each->bytes;
        if (held_back_bytes > books_.held_back_bytes) return Status::corrupt_data;
    }
    const bool sound = cached_bytes == books_.cached_bytes && held_back_bytes == books_.held_back_bytes &&
                       books_.live_bytes <= max_bytes_ &&
                       pages_.page_count() * os::page_size() == books_.held_bytes();
    return sound ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
