#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/memory/tag.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

// Listening to what happens to memory: profilers, metrics and budgets of higher modules add an observer, and
// resources that take part (TaggedAllocator, the registry of blocks) raise events. With no observer an event
// costs one relaxed load; raising one never takes a lock.
namespace ouro {

class MemoryResource;
struct BlockInfo;

struct MemoryEvent {
    const MemoryResource* resource = nullptr;
    Tag tag = {};
    // ok, or why a request failed.
    Status status = Status::ok;
    // What was given, or taken back. Null for a failed allocation.
    MemoryBlock block = {};
    // For a reallocation: what the block was before. Its memory may be gone already.
    MemoryBlock old_block = {};
    std::size_t asked_bytes = 0;
    std::size_t alignment = 0;
};

// Called on the thread where it happens, as part of the call: be quick. A callback may allocate; what happens
// inside a callback raises no further events.
class MemoryObserver {
public:
    // After the block was allocated, before anybody else sees it.
    virtual void on_allocate(const MemoryEvent& /*event*/) noexcept {}
    // Before the block goes back, so that its address still means this block.
    virtual void on_deallocate(const MemoryEvent& /*event*/) noexcept {}
    // After the block changed.
    virtual void on_reallocate(const MemoryEvent& /*event*/) noexcept {}
    // After an allocation or reallocation failed; old_block tells which.
    virtual void on_failure(const MemoryEvent& /*event*/) noexcept {}

    // Of the registry of blocks: a range has come, has changed what it commits, is about to go.
    virtual void on_block_registered(const BlockInfo& /*block*/) noexcept {}
    virtual void on_block_changed(const BlockInfo& /*block*/) noexcept {}
    virtual void on_block_removed(const BlockInfo& /*block*/) noexcept {}

protected:
    MemoryObserver() noexcept = default;
    MemoryObserver(const MemoryObserver&) noexcept = default;
    MemoryObserver& operator=(const MemoryObserver&) noexcept = default;
    ~MemoryObserver() = default;
};

inline constexpr std::size_t kMaxObservers = 16;

// From any thread, also from a callback. The observer is called for what happens from now on. Fails with
// capacity_exhausted, or bad_argument when it is there already.
Expected<void> add_observer(MemoryObserver& observer) noexcept;

// From any thread. When it returns, the observer is not being called and will not be. Only from inside a
// callback, its own or another's, nothing is waited for: calls on other threads may still be ending then.
// Fails with not_found.
Expected<void> remove_observer(MemoryObserver& observer) noexcept;

namespace detail {

extern std::atomic<std::uint32_t> observer_count;

using EventCall = void (MemoryObserver::*)(const MemoryEvent&) noexcept;
using BlockCall = void (MemoryObserver::*)(const BlockInfo&) noexcept;
[[gnu::cold]] void raise_to_all(EventCall call, const MemoryEvent& event) noexcept;
[[gnu::cold]] void raise_to_all(BlockCall call, const BlockInfo& block) noexcept;

}  // namespace detail

[[nodiscard]] inline bool has_observers() noexcept {
    return detail::observer_count.load(std::memory_order_relaxed) != 0;
}

// For resources: `raise(&MemoryObserver::on_allocate, event)`. Ask has_observers() first where making the
// event costs something.
inline void raise(detail::EventCall call, const MemoryEvent& event) noexcept {
    if (has_observers()) [[unlikely]]
        detail::raise_to_all(call, event);
}
inline void raise(detail::BlockCall call, const BlockInfo& block) noexcept {
    if (has_observers()) [[unlikely]]
        detail::raise_to_all(call, block);
}

}  // namespace ouro
