// Writes noticed by page protection and a signal handler.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "os/raw_memory.hpp"

#include <ouro/os/fault_tracker.hpp>

#include <csignal>
#include <cstdint>

namespace ouro::bench {
namespace {

std::size_t handler_granule = 0;

// The least that a handler can do: open the granule that was written.
void open_granule(int, siginfo_t* info, void*) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr) & ~(handler_granule - 1);
    ::mprotect(reinterpret_cast<void*>(address), handler_granule, PROT_READ | PROT_WRITE);
}

// Handles SIGSEGV with open_granule for as long as it lives.
class BareHandler {
public:
    explicit BareHandler(std::size_t granule) {
        handler_granule = granule;
        struct sigaction action{};
        action.sa_sigaction = open_granule;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        must(::sigaction(SIGSEGV, &action, &before_) == 0, "sigaction");
    }
    BareHandler(const BareHandler&) = delete;
    BareHandler& operator=(const BareHandler&) = delete;
    ~BareHandler() { ::sigaction(SIGSEGV, &before_, nullptr); }

private:
    struct sigaction before_{};
};

// Aligned to granules, which mmap alone does not promise.
MemoryBlock aligned_part(MemoryBlock roomy, std::size_t bytes, std::size_t granule) {
    const auto address = reinterpret_cast<std::uintptr_t>(roomy.data);
    return roomy.sub((granule - address % granule) % granule, bytes);
}

void measure_granule(Session& session, const char* name, std::size_t granule, const char* note) {
    const std::size_t bytes = session.sized(512, 32) * granule;
    const RawMapping storage = filled_memory(bytes + granule);
    const MemoryBlock block = aligned_part(storage.block(), bytes, granule);
    session.measure(name, kMicroseconds)
        .ours([=](Round& round) {
            const auto tracker = must(os::FaultTracker::create(block, granule), "fault tracker");
            round.time([&] { touch(block, granule); });
        })
        .peer("SIGSEGV+mprotect", kernel_version(),
              [=](Round& round) {
                  const BareHandler handler(granule);
                  must(::mprotect(block.data, block.size, PROT_READ) == 0, "mprotect");
                  round.time([&] { touch(block, granule); });
              })
        .bound("a write to a page that is there",
               [=](Round& round) { round.time([&] { touch(block, granule); }); })
        .bar(ratio_at_most(1.1))
        .note(note)
        .operations(bytes / granule)
        .run();
}

}  // namespace

void measure_fault_tracking(Session& session) {
    measure_granule(session, "signal on the first write, 4 KiB", kPage, "reference 5 to 9 us");
    measure_granule(session, "signal on the first write, 64 KiB", 64 * kKiB, "reference 5 to 9 us");
}

}  // namespace ouro::bench
