#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/fallback_chain.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace ouro {
namespace {

// Something ran out, as opposed to a request that this resource never serves.
bool is_shortage(Status status) noexcept {
    switch (status) {
        case Status::out_of_memory:
        case Status::out_of_address_space:
        case Status::too_many_mappings:
        case Status::capacity_exhausted:
        case Status::budget_exceeded:
        case Status::rate_limited:
        case Status::sealed:
            return true;
        default:
            return false;
    }
}

// What to tell when link after link failed.
Status more_telling(Status before, Status now) noexcept {
    return is_shortage(before) && !is_shortage(now) ? before : now;
}

}  // namespace

FallbackChain::FallbackChain(std::span<MemoryResource* const> links, const char* name) noexcept
    : count_(links.size()), name_(name) {
    std::ranges::copy(links, links_.begin());
}

Expected<FallbackChain> FallbackChain::create(std::span<MemoryResource* const> links,
                                              const char* name) noexcept {
    if (links.size() > kMaxLinks) return Status::capacity_exhausted;
    if (links.empty()) return Status::bad_argument;
    for (std::size_t i = 0; i < links.size(); ++i) {
        if (links[i] == nullptr || std::ranges::count(links, links[i]) != 1) return Status::bad_argument;
    }
    return FallbackChain(links, name);
}

Expected<FallbackChain> FallbackChain::create(std::initializer_list<MemoryResource*> links,
                                              const char* name) noexcept {
    return create(std::span<MemoryResource* const>(links.begin(), links.size()), name);
}

Expected<MemoryBlock> FallbackChain::allocate(std::size_t size, std::size_t alignment) noexcept {
    Status status = check_allocation(size, alignment);
    if (status != Status::ok) [[unlikely]]
        return fail(status);
    for (MemoryResource* link : links()) {
        const auto block = link->allocate(size, alignment);
        if (block) [[likely]]
            return block;
        status = more_telling(status, block.status());
    }
    return fail(status);
}

void FallbackChain::deallocate(MemoryBlock block, std::size_t alignment) noexcept {
    if (block.is_null()) return;
    MemoryResource* owner = owner_of(block.data);
    OURO_BLOCK_ASSERT(owner != nullptr, "no link of the chain owns this block", *this, block.data);
    owner->deallocate(block, alignment);
}

Expected<MemoryBlock> FallbackChain::reallocate(MemoryBlock block, std::size_t new_size,
                                                std::size_t alignment) noexcept {
    if (block.is_null()) return allocate(new_size, alignment);
    Status status = check_allocation(new_size, alignment);
    if (status != Status::ok) return fail(status);
    MemoryResource* owner = owner_of(block.data);
    OURO_BLOCK_ASSERT(owner != nullptr, "no link of the chain owns this block", *this, block.data);
    const auto changed = owner->reallocate(block, new_size, alignment);
    if (changed) return changed;
    status = changed.status();
    for (MemoryResource* link : links()) {
        if (link == owner) continue;
        const auto moved = link->allocate(new_size, alignment);
        if (moved) {
            std::memcpy(moved->data, block.data, std::min(block.size, new_size));
            owner->deallocate(block, alignment);
            return moved;
        }
        status = more_telling(status, moved.status());
    }
    return fail(status);
}

Expected<MemoryBlock> FallbackChain::try_resize(MemoryBlock block, std::size_t new_size,
                                                std::size_t alignment) noexcept {
    MemoryResource* owner = owner_of(block.data);
    OURO_BLOCK_ASSERT(owner != nullptr, "no link of the chain owns this block", *this, block.data);
    return owner->try_resize(block, new_size, alignment);
}

Expected<ResourceMark> FallbackChain::place_mark() noexcept {
    return count_ == 1 ? links_[0]->place_mark() : Status::not_supported;
}

void FallbackChain::free_since(ResourceMark mark) noexcept {
    OURO_BLOCK_ASSERT(count_ == 1, "a chain of several links has no marks", *this, nullptr);
    links_[0]->free_since(mark);
}

Expected<MemoryBlock> FallbackChain::fail(Status status) noexcept {
    std::atomic_ref(failures_).fetch_add(1, std::memory_order_relaxed);
    return status;
}

MemoryResource* FallbackChain::owner_of(const void* address) const noexcept {
    for (MemoryResource* link : links()) {
        if (link->owns(address)) return link;
    }
    return nullptr;
}

ResourceInfo FallbackChain::info() const noexcept {
    ResourceInfo info{.name = name_, .thread_safety = ThreadSafety::any_thread, .frees_blocks = true};
    for (const MemoryResource* link : links()) {
        const ResourceInfo its = link->info();
        info.thread_safety = std::min(info.thread_safety, its.thread_safety);
        info.frees_blocks = info.frees_blocks && its.frees_blocks;
        // Of several links, who serves a request decides.
        if (count_ == 1) info.size_classes = its.size_classes;
    }
    return info;
}

ResourceStats FallbackChain::stats() const noexcept {
    ResourceStats sum;
    for (const MemoryResource* link : links()) {
        const ResourceStats its = link->stats();
        sum.live_bytes += its.live_bytes;
        sum.peak_bytes += its.peak_bytes;
        sum.live_blocks += its.live_blocks;
        sum.reserved_bytes += its.reserved_bytes;
        sum.committed_bytes += its.committed_bytes;
        sum.allocations += its.allocations;
    }
    // Reading needs no more than a plain load, but atomic_ref wants to be able to write.
    sum.failures = std::atomic_ref(const_cast<std::uint64_t&>(failures_)).load(std::memory_order_relaxed);
    return sum;
}

Status FallbackChain::check() const noexcept {
    for (const MemoryResource* link : links()) {
        const Status status = link->check();
        if (status != Status::ok) return status;
    }
    return count_ != 0 && count_ <= kMaxLinks ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
