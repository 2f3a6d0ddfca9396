// A tick, written and kept, beside what programs do that have no ring: a copy of everything, a fork whose
// child holds the old pages, and page protection with a signal for each page that is written first. The bound
// is a copy of exactly the pages that are written.
#include "harness/case.hpp"
#include "os/os_suite.hpp"
#include "ring/ring_scene.hpp"
#include "ring/ring_suite.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ouro::bench {
namespace {

void write_pages(std::byte* image, const std::vector<std::uint32_t>& list, std::uint64_t serial) {
    for (const std::uint32_t page : list)
        std::memcpy(image + std::size_t{page} * kPage + serial * 64 % kPage, &serial, sizeof(serial));
}

// The child keeps the tick as it was until the next one is kept, then it goes. Forked at once, without the
// C library's preparations.
class ForkedTicks {
public:
    ForkedTicks() = default;
    ForkedTicks(const ForkedTicks&) = delete;
    ForkedTicks& operator=(const ForkedTicks&) = delete;
    ~ForkedTicks() { end(); }

    void keep() {
        end();
        child_ = ::_Fork();
        if (child_ == 0) {
            ::pause();
            ::_exit(0);
        }
        if (child_ < 0) throw std::runtime_error("cannot fork");
    }

private:
    void end() {
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        child_ = 0;
    }

    pid_t child_ = 0;
};

// Every page is protected after a tick; the first write to one raises a signal, whose handler opens the page
// and puts it on the list of those to copy.
class ProtectedImage {
public:
    explicit ProtectedImage(MemoryBlock image) : image_(image), written_(image.size / kPage) {
        struct sigaction action{};
        action.sa_sigaction = open_page;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        ::sigaction(SIGSEGV, &action, &before_);
        active_ = this;
        protect();
    }
    ProtectedImage(const ProtectedImage&) = delete;
    ProtectedImage& operator=(const ProtectedImage&) = delete;
    ~ProtectedImage() {
        ::mprotect(image_.data, image_.size, PROT_READ | PROT_WRITE);
        active_ = nullptr;
        ::sigaction(SIGSEGV, &before_, nullptr);
    }

    void capture(RawCapture& raw) {
        raw.copy({written_.begin(), written_.begin() + static_cast<std::ptrdiff_t>(count_)});
        count_ = 0;
        protect();
    }

private:
    void protect() const {
        if (::mprotect(image_.data, image_.size, PROT_READ) != 0) throw std::runtime_error("mprotect failed");
    }

    static void open_page(int, siginfo_t* info, void*) {
        ProtectedImage* const self = active_;
        const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(info->si_addr) -
                                                     (self != nullptr ? self->image_.data : nullptr));
        if (self == nullptr || offset >= self->image_.size) {
            ::signal(SIGSEGV, SIG_DFL);
            return;
        }
        self->written_[self->count_++] = static_cast<std::uint32_t>(offset / kPage);
        ::mprotect(self->image_.data + offset / kPage * kPage, kPage, PROT_READ | PROT_WRITE);
    }

    static inline ProtectedImage* active_ = nullptr;

    MemoryBlock image_;
    std::vector<std::uint32_t> written_;
    std::size_t count_ = 0;
    struct sigaction before_{};
};

// The ring is none of the children's: else each fork would take longer, and each page of the history would
// fault again when it is our turn.
void keep_from_children() {
    visit_blocks([](const BlockInfo& block) {
        void* const begin = reinterpret_cast<void*>(block.base);
        if (::madvise(begin, block.committed_bytes, MADV_DONTFORK) != 0)
            throw std::runtime_error("madvise failed");
    });
}

void measure_tick(Session& session, RingScene& scene, const std::string& tracking,
                  const WritePattern& pattern, unsigned rounds) {
    const PageLists lists(pattern, scene.pages());
    const RawMapping plain = filled_memory(scene.world().size);
    RawCapture raw(plain.block(), session.sized(512 * kMiB, 4 * kMiB));
    const auto ticks = [&](auto keep_tick) {
        return Work([&, keep_tick](Round& round) {
            for (std::uint64_t tick = 0; tick < round.operations(); ++tick)
                round.time([&] {
                    write_pages(plain.block().data, lists.at(tick), tick);
                    keep_tick(lists.at(tick));
                });
        });
    };
    session
        .measure("tick, " + tracking + ", " + pattern.name + " of " + size_name(scene.world().size),
                 kMicroseconds)
        .ours([&](Round& round) {
            for (std::uint64_t tick = 0; tick < round.operations(); ++tick)
                round.time([&] {
                    scene.write(lists.at(tick));
                    scene.commit();
                });
        })
        .bound("write + copy of these pages", ticks([&](const auto& list) { raw.copy(list); }))
        .peer("write + copy of the whole image", "streaming",
              sampled(ticks([&](const auto&) { raw.copy_all(); })),
              ratio_at_most(pattern.permille == 1000 ? 1.2 : 1.0))
        .peer("fork, a child a tick", kernel_version(),
              [&](Round& round) {
                  {
                      ForkedTicks forked;
                      ticks([&](const auto&) { forked.keep(); })(round);
                  }
                  // What was shared with the last child faults once more: not when others are measured.
                  must(os::prefault(plain.block()), "open the pages again");
                  raw.prefault();
              })
        .peer("mprotect + SIGSEGV", kernel_version(),
              [&](Round& round) {
                  ProtectedImage image(plain.block());
                  ticks([&](const auto&) { image.capture(raw); })(round);
              })
        .bar(ratio_at_most(1.0))
        .operations(std::max<std::uint64_t>(2, 1000 / lists.pages_per_tick()))
        .rounds_at_most(rounds)
        .different_results()
        .run();
}

}  // namespace

void measure_snapshot_peers(Session& session) {
    const auto measure_image = [&](std::size_t bytes, std::uint64_t history, unsigned rounds) {
        for (const Tracking tracking : {Tracking::declared, Tracking::kernel}) {
            RingScene scene(bytes, tracking, false, history);
            keep_from_children();
            for (const WritePattern& pattern : commit_patterns())
                measure_tick(session, scene, tracking == Tracking::declared ? "declared" : "kernel", pattern,
                             rounds);
        }
    };
    const std::size_t bytes = session.sized(100 * kMiB, 4 * kMiB);
    measure_image(bytes, bytes * 4, 5);
    measure_image(session.sized(1024 * kMiB, 8 * kMiB), session.sized(2600 * kMiB, 24 * kMiB), 2);
}

}  // namespace ouro::bench
