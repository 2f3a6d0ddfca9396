// Real blocks of a real heap, allocated, resized and freed by several threads, also those of others, while
// another one changes the budgets.
#include "fresh_tags.hpp"
#include "workers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/os/thread.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using test::fresh_tag;
using testing_support::run_workers;

constexpr std::size_t kThreads = 4;
constexpr std::size_t kTags = 7;
constexpr std::size_t kSlots = 1'024;
constexpr std::uint64_t kSeed = 20'26'17;
// Of the first tag, the two below it and the four below those: less than they would use, so that each of them
// refuses. Each change draws anew, from a sixteenth of these up.
constexpr std::array<std::uint32_t, kTags> kLargestBudgets{250'000, 100'000, 100'000, 40'000,
                                                           40'000,  40'000,  40'000};

// Stands at the beginning of each block, and says again at its end what it is.
struct Label {
    std::size_t bytes = 0;
    std::size_t tag = 0;
};

std::byte mark_of(const Label& label) {
    return static_cast<std::byte>(label.bytes * 7 + label.tag);
}

void write_label(std::byte* data, const Label& label) {
    data[label.bytes - 1] = mark_of(label);
    std::memcpy(data, &label, sizeof label);
}

Label read_label(const std::byte* data) {
    Label label;
    std::memcpy(&label, data, sizeof label);
    return label;
}

std::size_t random_size(Random& random) {
    return sizeof(Label) + 1 + random.below(random.below(50) == 0 ? 20'000 : 300);
}

struct Totals {
    // Of new blocks, granted or not.
    std::uint64_t requests = 0;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t freed_bytes = 0;
    std::uint64_t refusals = 0;
    std::uint64_t resizes = 0;

    void add(const Totals& other) {
        requests += other.requests;
        allocations += other.allocations;
        frees += other.frees;
        allocated_bytes += other.allocated_bytes;
        freed_bytes += other.freed_bytes;
        refusals += other.refusals;
        resizes += other.resizes;
    }
};

// A family of tags, the blocks of which lie in slots that all threads take from and put into.
class Scene {
public:
    Scene() {
        tags_[0] = fresh_tag();
        for (std::size_t at = 1; at < kTags; ++at)
            tags_[at] = fresh_tag(tags_[(at - 1) / 2]);
    }

    void work(std::uint64_t stream, unsigned operations, Totals& totals) {
        Random random(kSeed, stream);
        for (unsigned i = 0; i < operations; ++i) {
            std::atomic<std::byte*>& slot = slots_[random.below(kSlots)];
            const std::uint32_t choice = random.below(100);
            if (choice < 50) {
                put(slot, allocate(random, totals), totals);
            } else if (choice < 75) {
                free(slot.exchange(nullptr), totals);
            } else if (std::byte* const data = slot.exchange(nullptr); data != nullptr) {
                put(slot, resize(data, random_size(random), totals), totals);
            }
        }
    }

    // What is live when a budget becomes smaller may stay, and so may what is just being granted; from then
    // on nothing may come above the larger of that and the budget, until the next change.
    void set_budget_of(std::size_t at) {
        Watch& watch = watches_[at];
        const std::size_t bytes = (kLargestBudgets[at] >> random_.below(5)) - random_.below(1'000);
        watch.changes.fetch_add(1);
        EXPECT_TRUE(set_budget(tags_[at], {.hard_bytes = bytes}));
        const std::size_t bound = std::max<std::size_t>(bytes, watch.maybe_live.load());
        watch.bound.store(bound);
        watch.changes.fetch_add(1);
        watch.largest_bound = std::max(watch.largest_bound, bound);
    }

    void begin_phase() {
        for (std::size_t at = 0; at < kTags; ++at) {
            watches_[at].largest_bound = 0;
            set_budget_of(at);
        }
        // Credit that the budgets before have let through is gone by now.
        reset_peaks();
    }

    void change_a_budget() { set_budget_of(random_.below(kTags)); }

    void expect_kept() const {
        for (std::size_t at = 0; at < kTags; ++at)
            EXPECT_LE(use_of(tags_[at]).peak_bytes, watches_[at].largest_bound) << "tag " << at;
    }
    // How often what was live was held against the budget of that very moment.
    std::uint64_t comparisons() const { return comparisons_.load(); }

    void expect_counts(const Totals& totals) const {
        std::array<std::size_t, kTags> bytes{};
        std::array<std::size_t, kTags> blocks{};
        for (const auto& slot : slots_) {
            const std::byte* const data = slot.load();
            if (data == nullptr) continue;
            const Label label = read_label(data);
            for (std::size_t at = 0; at < kTags; ++at) {
                if (!is_tag_within(tags_[label.tag], tags_[at])) continue;
                bytes[at] += label.bytes;
                ++blocks[at];
            }
        }
        for (std::size_t at = 0; at < kTags; ++at) {
            EXPECT_EQ(use_of(tags_[at]).live_bytes, bytes[at]) << "tag " << at;
            EXPECT_EQ(use_of(tags_[at]).live_blocks, blocks[at]) << "tag " << at;
        }
        const TagUse all = use_of(tags_[0]);
        EXPECT_EQ(all.allocations, totals.allocations);
        EXPECT_EQ(all.frees, totals.frees);
        EXPECT_EQ(all.allocated_bytes, totals.allocated_bytes);
        EXPECT_EQ(all.freed_bytes, totals.freed_bytes);
        EXPECT_EQ(all.failures, totals.refusals);
        EXPECT_EQ(check_ledger(), Status::ok);
    }

    void free_all(Totals& totals) {
        for (auto& slot : slots_)
            free(slot.exchange(nullptr), totals);
        EXPECT_EQ(heap_.check(), Status::ok);
        EXPECT_EQ(heap_.stats().live_blocks, 0U);
    }

private:
    struct Watch {
        // What is surely live: counted after it was granted, and no more before it is given back.
        std::atomic<std::size_t> live = 0;
        // The other way round: counted before it is asked for, until it was given back.
        std::atomic<std::size_t> maybe_live = 0;
        std::atomic<std::size_t> bound = 0;
        // Odd while the budget changes.
        std::atomic<std::uint64_t> changes = 0;
        // Since the phase began; of the thread that sets budgets.
        std::size_t largest_bound = 0;
    };

    template <class Action>
    void for_watches_of(std::size_t tag, const Action& action) {
        for (std::size_t at = 0; at < kTags; ++at) {
            if (is_tag_within(tags_[tag], tags_[at])) action(watches_[at], at);
        }
    }
    void ask(std::size_t tag, std::size_t bytes) {
        for_watches_of(tag, [&](Watch& watch, std::size_t) { watch.maybe_live.fetch_add(bytes); });
    }
    void forget(std::size_t tag, std::size_t bytes) {
        for_watches_of(tag, [&](Watch& watch, std::size_t) { watch.maybe_live.fetch_sub(bytes); });
    }
    void add(std::size_t tag, std::size_t bytes) {
        for_watches_of(tag, [&](Watch& watch, std::size_t at) {
            const std::uint64_t before = watch.changes.load();
            const std::size_t now = watch.live.fetch_add(bytes) + bytes;
            const std::size_t bound = watch.bound.load();
            if (before % 2 != 0 || before != watch.changes.load()) return;
            EXPECT_LE(now, bound) << "tag " << at;
            comparisons_.fetch_add(1, std::memory_order_relaxed);
        });
    }
    void remove(std::size_t tag, std::size_t bytes) {
        for_watches_of(tag, [&](Watch& watch, std::size_t) { watch.live.fetch_sub(bytes); });
    }

    std::byte* allocate(Random& random, Totals& totals) {
        const Label label{random_size(random), random.below(kTags)};
        const TagScope scope(tags_[label.tag]);
        ++totals.requests;
        ask(label.tag, label.bytes);
        const auto block = memory_.allocate(label.bytes);
        if (!block) {
            EXPECT_EQ(block.status(), Status::budget_exceeded);
            forget(label.tag, label.bytes);
            ++totals.refusals;
            return nullptr;
        }
        add(label.tag, label.bytes);
        ++totals.allocations;
        totals.allocated_bytes += label.bytes;
        write_label(block->data, label);
        return block->data;
    }

    // The block, wherever it is then, and as large as it was where a budget forbids more.
    std::byte* resize(std::byte* data, std::size_t bytes, Totals& totals) {
        const Label label = read_label(data);
        EXPECT_EQ(data[label.bytes - 1], mark_of(label));
        const std::size_t more = bytes > label.bytes ? bytes - label.bytes : 0;
        const std::size_t less = label.bytes > bytes ? label.bytes - bytes : 0;
        remove(label.tag, less);
        ask(label.tag, more);
        const auto block = memory_.reallocate({data, label.bytes}, bytes);
        if (!block) {
            EXPECT_EQ(block.status(), Status::budget_exceeded);
            EXPECT_GT(bytes, label.bytes);
            forget(label.tag, more);
            ++totals.refusals;
            return data;
        }
        EXPECT_EQ(read_label(block->data).bytes, label.bytes);
        EXPECT_EQ(read_label(block->data).tag, label.tag);
        if (more != 0) add(label.tag, more);
        forget(label.tag, less);
        totals.allocated_bytes += more;
        totals.freed_bytes += less;
        ++totals.resizes;
        write_label(block->data, {bytes, label.tag});
        return block->data;
    }

    void free(std::byte* data, Totals& totals) {
        if (data == nullptr) return;
        const Label label = read_label(data);
        EXPECT_EQ(data[label.bytes - 1], mark_of(label));
        remove(label.tag, label.bytes);
        ++totals.frees;
        totals.freed_bytes += label.bytes;
        memory_.deallocate({data, label.bytes});
        forget(label.tag, label.bytes);
    }

    void put(std::atomic<std::byte*>& slot, std::byte* data, Totals& totals) {
        if (data != nullptr) free(slot.exchange(data), totals);
    }

    SmallObjectAllocator heap_ = *SmallObjectAllocator::create({.name = "budget test"});
    ChargedAllocator<SmallObjectAllocator, true> memory_{heap_};
    std::array<Tag, kTags> tags_;
    std::array<std::atomic<std::byte*>, kSlots> slots_{};
    std::array<Watch, kTags> watches_{};
    std::atomic<std::uint64_t> comparisons_ = 0;
    Random random_{kSeed, 99};
};

TEST(ChargedBudgetConcurrent, AMillionRequestsUnderChangingBudgetsNeverExceedOne) {
    constexpr unsigned kPhases = 25;
    // Every second one is a request.
    constexpr unsigned kOperations = 2'100'000 / (kPhases * kThreads);
    const auto scene = std::make_unique<Scene>();
    Totals all;
    for (std::uint64_t phase = 0; phase < kPhases; ++phase) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << " phase " << phase);
        std::array<Totals, kThreads> totals;
        std::atomic<std::size_t> working{kThreads};
        scene->begin_phase();
        run_workers(kThreads + 1, [&](std::size_t number) {
            if (number == kThreads) {
                while (working.load() != 0) {
                    scene->change_a_budget();
                    // Each budget is in force for a while.
                    for (const auto done = scene->comparisons();
                         scene->comparisons() < done + 200 && working.load() != 0;)
                        os::yield_thread();
                }
                return;
            }
            scene->work(phase * kThreads + number, kOperations, totals[number]);
            working.fetch_sub(1);
        });
        for (const Totals& of_thread : totals)
            all.add(of_thread);
        scene->expect_kept();
        scene->expect_counts(all);
        if (testing::Test::HasFailure()) break;
    }
    EXPECT_GE(all.requests, 1'000'000U);
    EXPECT_GT(all.allocations, 100'000U);
    EXPECT_GT(all.resizes, 10'000U);
    EXPECT_GT(all.refusals, 1'000U);
    EXPECT_GT(scene->comparisons(), 100'000U);
    scene->free_all(all);
    scene->expect_counts(all);
}

}  // namespace
}  // namespace ouro
