#include "fault_slots.hpp"

#include "fault_observers.hpp"
#include "system_calls.hpp"

#include <ouro/base/bits.hpp>
#include <ouro/os/fault_tracker.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <cstring>

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace ouro::os {
namespace {

std::array<FaultSlot, FaultTracker::kMaxTrackers> slots;
// Held while slots are claimed and freed, never in the handler.
std::atomic<bool> slots_busy{false};

// The handlers that stood where ours stands now, the newest last. A program may set its own after our first;
// the next tracker then puts ours in front again. Entries never change once counted, because a handler may be
// reading them.
constexpr std::size_t kMaxReinstalls = 16;
std::array<struct sigaction, kMaxReinstalls> previous_actions;
std::atomic<std::size_t> previous_count{0};

class SlotsLock {
public:
    SlotsLock() noexcept {
        while (slots_busy.exchange(true, std::memory_order_acquire))
            yield_thread();
    }
    ~SlotsLock() { slots_busy.store(false, std::memory_order_release); }
    SlotsLock(const SlotsLock&) = delete;
    SlotsLock& operator=(const SlotsLock&) = delete;
};

// A jump into tracked data faults like a write but would fault for ever if it were treated as one.
bool is_write(const siginfo_t& info, [[maybe_unused]] const void* context) noexcept {
    if (info.si_code != SEGV_ACCERR) return false;
#if defined(__x86_64__)
    constexpr greg_t kWriteBit = 2;
    return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0;
#else
    return true;
#endif
}

const void* instruction_of([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__)
    return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#else
    return nullptr;
#endif
}

// Handlers that may be using a slot or its flags; whoever frees a slot waits for them.
std::atomic<unsigned> active_handlers{0};
// A fault may be on its way while its slot is freed; the page is open by then, and the write only needs
// another try.
std::atomic<std::uint64_t> freed_slots{0};

bool note_in_slot(const std::byte* address) noexcept {
    active_handlers.fetch_add(1);
    bool noted = false;
    for (FaultSlot& slot : slots) {
        if (!slot.range().contains(address)) continue;
        noted = slot.note_write(address);
        break;
    }
    active_handlers.fetch_sub(1);
    return noted;
}

// True once per thread and freed slot.
bool may_be_late() noexcept {
    [[gnu::tls_model("initial-exec")]] static thread_local std::uint64_t last_seen = 0;
    const std::uint64_t freed = freed_slots.load();
    if (last_seen == freed) return false;
    last_seen = freed;
    return true;
}

// A handler that was set after ours may pass on to us in turn. The mark travels with the delivery, in bytes
// that the kernel clears for each and nobody else uses; it is right even for handlers that leave by a jump.
bool is_marked_as_passed_on(siginfo_t& info) noexcept {
    constexpr std::uint64_t kMark = 0x4f55524f5041u;
    std::byte* place = reinterpret_cast<std::byte*>(&info) + sizeof(siginfo_t) - sizeof(kMark);
    const bool marked = std::memcmp(place, &kMark, sizeof(kMark)) == 0;
    std::memcpy(place, &kMark, sizeof(kMark));
    return marked;
}

// Somebody sent the signal: there is no fault, and so none that happens again.
bool is_sent(const siginfo_t& info) noexcept {
    return info.si_code <= 0;
}

// With the default action in place, the fault happens again on return and ends the process as it should.
void end_by_default(const siginfo_t& info) noexcept {
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGSEGV, &standard, nullptr);
    if (is_sent(info)) static_cast<void>(::raise(SIGSEGV));
}

void pass_on(int signal, siginfo_t* info, void* context) noexcept {
    if (is_marked_as_passed_on(*info)) return end_by_default(*info);
    const struct sigaction& previous = previous_actions[previous_count.load(std::memory_order_acquire) - 1];
    if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
        previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal);
    } else if (previous.sa_handler == SIG_DFL || !is_sent(*info)) {
        end_by_default(*info);
    }
}

void handle_fault(int signal, siginfo_t* info, void* context) noexcept {
    const int saved_error = errno;
    const auto* address = static_cast<const std::byte*>(info->si_addr);
    const bool write = is_write(*info, context);
    const bool noted = write && (note_in_slot(address) || may_be_late());
    if (!noted) {
        if (!is_sent(*info))
            tell_fault_observers(
                {.address = address, .is_write = write, .instruction = instruction_of(context)});
        pass_on(signal, info, context);
    }
    errno = saved_error;
}

}  // namespace

GranuleRun FaultSlot::run_of(MemoryBlock part) const noexcept {
    const auto offset = static_cast<std::size_t>(part.data - begin_.load());
    const unsigned shift = granule_shift_.load();
    return {offset >> shift, (offset + part.size) >> shift};
}

MemoryBlock FaultSlot::block_of(GranuleRun run) const noexcept {
    const unsigned shift = granule_shift_.load();
    return {begin_.load() + (run.first << shift), (run.end - run.first) << shift};
}

GranuleRun FaultSlot::next_written(GranuleRun within) const noexcept {
    const GranuleFlag* flags = flags_.load();
    std::size_t first = within.first;
    while (first < within.end && flags[first].load() == GranuleState::armed)
        ++first;
    std::size_t end = first;
    while (end < within.end && flags[end].load() != GranuleState::armed)
        ++end;
    return {first, end};
}

void FaultSlot::change(GranuleRun run, GranuleState from, GranuleState to) noexcept {
    GranuleFlag* flags = flags_.load();
    for (std::size_t granule = run.first; granule < run.end; ++granule) {
        GranuleState expected = from;
        flags[granule].compare_exchange_strong(expected, to);
    }
}

bool FaultSlot::note_write(const std::byte* address) noexcept {
    const std::size_t granule = static_cast<std::size_t>(address - range().data) >> granule_shift_.load();
    const MemoryBlock block = block_of({granule, granule + 1});
    GranuleFlag& flag = flags_.load()[granule];
    // Another thread is opening it: the write is simply tried again.
    if (flag.exchange(GranuleState::opening) == GranuleState::opening) return true;
    const int opened = attempt(OsCall::protect_memory,
                               [&] { return ::mprotect(block.data, block.size, PROT_READ | PROT_WRITE); });
    const bool done = opened == 0 || open_everything();
    flag.store(GranuleState::open);
    return done;
}

// Out of mappings: opening the whole range needs none more.
bool FaultSlot::open_everything() noexcept {
    const MemoryBlock all = range();
    const GranuleRun run = run_of(all);
    change(run, GranuleState::armed, GranuleState::opening_all);
    change(run, GranuleState::open, GranuleState::opening_all);
    const int opened = attempt(OsCall::protect_memory,
                               [&] { return ::mprotect(all.data, all.size, PROT_READ | PROT_WRITE); });
    change(run, GranuleState::opening_all, GranuleState::open);
    return opened == 0;
}

Expected<FaultSlot*> claim_fault_slot(MemoryBlock range, std::size_t granule_bytes,
                                      GranuleFlag* flags) noexcept {
    const SlotsLock lock;
    FaultSlot* free_slot = nullptr;
    for (FaultSlot& slot : slots) {
        if (slot.range().size == 0) {
            if (free_slot == nullptr) free_slot = &slot;
        } else if (slot.range().overlaps(range)) {
            return Status::already_tracked;
        }
    }
    if (free_slot == nullptr) return Status::capacity_exhausted;
    free_slot->flags_ = flags;
    free_slot->granule_shift_ = log2_floor(granule_bytes);
    free_slot->begin_ = range.data;
    free_slot->size_ = range.size;
    return free_slot;
}

void free_fault_slot(FaultSlot& slot) noexcept {
    const SlotsLock lock;
    slot.size_ = 0;
    freed_slots.fetch_add(1);
    while (active_handlers.load() != 0)
        yield_thread();
    slot.begin_ = nullptr;
}

Status install_fault_handler() noexcept {
    const SlotsLock lock;
    struct sigaction current = {};
    if (attempt(OsCall::set_signal_handler, [&] { return ::sigaction(SIGSEGV, nullptr, &current); }) != 0) {
        return status_of_error(errno);
    }
    if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == handle_fault) return Status::ok;
    const std::size_t count = previous_count.load(std::memory_order_relaxed);
    if (count == kMaxReinstalls) return Status::capacity_exhausted;
    previous_actions[count] = current;
    previous_count.store(count + 1, std::memory_order_release);
    struct sigaction action = {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    const int result =
        attempt(OsCall::set_signal_handler, [&] { return ::sigaction(SIGSEGV, &action, nullptr); });
    if (result == 0) return Status::ok;
    previous_count.store(count, std::memory_order_release);
    return status_of_error(errno);
}

}  // namespace ouro::os
