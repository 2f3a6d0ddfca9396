// A region that two processes use at once, each at its own addresses; one of them may die at any time.
#include <ouro/base/random.hpp>
#include <ouro/memory/shared_region.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/memory_object.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <new>
#include <optional>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using ouro::MemoryBlock;
using ouro::OffsetPtr;
using ouro::SharedCache;
using ouro::SharedRegion;
using ouro::Status;
namespace os = ouro::os;

constexpr std::size_t kBytes = std::size_t{1} << 20;
constexpr unsigned kChildSeconds = 60;
constexpr std::uint64_t kParent = 1;
constexpr std::uint64_t kChild = 2;

// Where both meet: in a block of the region, found by its offset.
struct Board {
    static constexpr std::size_t kPlaces = 32;
    std::array<std::atomic<std::uint32_t>, kPlaces> places;
    std::atomic<std::uint32_t> steps;
};

struct Note {
    std::uint32_t own_offset;
    std::uint32_t size;
};

// One process's side.
class Side {
public:
    Side(const os::MemoryObject& object, std::uint64_t owner, std::uint64_t seed)
        : mapping_(*object.map({.bytes = object.size()})),
          region_(*SharedRegion::attach(mapping_.block())),
          cache_(*region_.claim_cache(owner)),
          random_(seed) {}

    [[nodiscard]] const SharedRegion& region() const { return region_; }
    [[nodiscard]] SharedCache& cache() { return cache_; }

    // Puts a new block into a place and frees what was there, whoever made it. False when that is damaged.
    bool step(Board& board) {
        const std::uint32_t size = 8 + random_.below(random_.below(50) == 0 ? 20'000 : 400);
        const auto block = cache_.allocate(size);
        std::uint32_t offset = 0;
        if (block) {
            offset = static_cast<std::uint32_t>(block->data - region_.base().start());
            const Note note{offset, size};
            std::memset(block->data, static_cast<int>(size & 0xFFU), size);
            std::memcpy(block->data, &note, sizeof(note));
        }
        const std::uint32_t before =
            board.places[random_.below(Board::kPlaces)].exchange(offset, std::memory_order_acq_rel);
        board.steps.fetch_add(1, std::memory_order_relaxed);
        return free_at(before);
    }

    bool free_at(std::uint32_t offset) {
        if (offset == 0) return true;
        std::byte* const data = region_.base().start() + offset;
        Note note;
        std::memcpy(&note, data, sizeof(note));
        if (note.own_offset != offset) return false;
        for (std::uint32_t index = sizeof(note); index < note.size; ++index)
            if (data[index] != static_cast<std::byte>(note.size & 0xFFU)) return false;
        cache_.deallocate({data, note.size});
        return true;
    }

private:
    os::Mapping mapping_;
    SharedRegion region_;
    SharedCache cache_;
    ouro::Random random_;
};

class SharedRegionProcess : public testing::Test {
protected:
    SharedRegionProcess() {
        EXPECT_TRUE(SharedRegion::create(first_.block(), {.max_caches = 4}));
        side_.emplace(object_, kParent, seed_);
        const auto block = side_->cache().allocate(sizeof(Board), alignof(Board));
        EXPECT_TRUE(block);
        board_ = OffsetPtr<Board>::to(::new (block->data) Board{}, side_->region().base());
    }

    template <class Work>
    pid_t start_child(Work work) {
        const pid_t child = ::fork();
        if (child != 0) return child;
        ::alarm(kChildSeconds);
        Side side(object_, kChild, seed_ + 1);
        const bool is_well = work(side, *board_.in(side.region().base()));
        // Ends as a process does, without ending what it has.
        ::_exit(is_well ? 0 : 1);
    }
    void free_board() {
        Board& board = *board_.in(side_->region().base());
        for (auto& place : board.places)
            EXPECT_TRUE(side_->free_at(place.exchange(0)));
        side_->cache().deallocate({reinterpret_cast<std::byte*>(&board), sizeof(Board)}, alignof(Board));
    }

    std::uint64_t seed_ = ouro::os::monotonic_ns();
    os::MemoryObject object_ = *os::MemoryObject::create(kBytes, "shared region");
    os::Mapping first_ = *object_.map({.bytes = object_.size()});
    std::optional<Side> side_;
    OffsetPtr<Board> board_;
};

TEST_F(SharedRegionProcess, BothAllocateAndFreeEachOthersBlocks) {
    SCOPED_TRACE(seed_);
    EXPECT_NE(side_->region().base().start(), first_.block().data) << "other addresses";
    constexpr int kSteps = 20'000;
    const pid_t child = start_child([](Side& side, Board& board) {
        bool is_well = true;
        for (int step = 0; step < kSteps && is_well; ++step)
            is_well = side.step(board);
        return is_well;
    });
    ASSERT_GT(child, 0);
    Board& board = *board_.in(side_->region().base());
    for (int step = 0; step < kSteps; ++step)
        ASSERT_TRUE(side_->step(board));
    int state = -1;
    ASSERT_EQ(::waitpid(child, &state, 0), child);
    EXPECT_EQ(state, 0);
    EXPECT_EQ(side_->region().check(), Status::ok);
    EXPECT_EQ(side_->region().reclaim_caches(kChild, kParent + 100), 1U);
    free_board();
    (void)side_->cache().trim();
    EXPECT_EQ(side_->region().stats().live_bytes, 0U);
    EXPECT_EQ(side_->region().stats().taken_bytes, 0U);
    EXPECT_EQ(side_->region().check(), Status::ok);
}

TEST_F(SharedRegionProcess, AProcessThatIsKilledStopsNobody) {
    SCOPED_TRACE(seed_);
    Board& board = *board_.in(side_->region().base());
    for (std::uint32_t round = 0; round < 30; ++round) {
        const pid_t child = start_child([](Side& side, Board& shared) {
            while (side.step(shared)) {
            }
            return false;
        });
        ASSERT_GT(child, 0);
        const std::uint32_t before = board.steps.load();
        while (board.steps.load() < before + 50 + 7 * round)
            ASSERT_TRUE(side_->step(board));
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        int state = 0;
        ASSERT_EQ(::waitpid(child, &state, 0), child);
        ASSERT_TRUE(WIFSIGNALED(state)) << "the child found damage";
        // Beside it, all goes on; then what it had is taken over.
        for (int step = 0; step < 100; ++step)
            ASSERT_TRUE(side_->step(board));
        EXPECT_LE(side_->region().reclaim_caches(kChild, kParent + 100), 1U);
        (void)side_->region().repair();
        ASSERT_EQ(side_->region().check(), Status::ok) << round;
    }
    // What it lost is what it was in the middle of: a few blocks a round.
    free_board();
    (void)side_->cache().trim();
    EXPECT_LT(side_->region().stats().taken_bytes, kBytes);
    EXPECT_TRUE(side_->cache().allocate(100));
}

}  // namespace
