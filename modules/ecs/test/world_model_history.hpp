#pragma once

#include "world_model_past.hpp"
#include "world_model_queries.hpp"
#include "world_model_schema.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/ecs/world_file.hpp>
#include <ouro/ecs/world_reader.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ouro::testing_support {

// Ticks: ending them, going back, futures that are kept, the past, files.
class HistoryOperations {
public:
    HistoryOperations(ModelRun& run, QueryOperations& queries)
        : run_(run), queries_(queries), past_(run), schema_(run) {
        kept_.resize(kKeptTicks);
    }

    // Everything before this tick is before the world.
    void begin() {
        commit();
        base_ = ring().newest();
    }

    void commit() {
        const std::uint32_t care = run_.below(32);
        if (care % 4 == 0) run_.compare_all();
        if (care % 4 == 1) queries_.compare_changes();
        if (run_.has_failed()) return;
        if (care == 2) {
            // Whoever verifies reads, and there may be no room for that beside the futures.
            end();
            const Tick tick = run_.rig().commit();
            run_.expect(!testing::Test::HasFailure(), "a tick that was verified");
            ++run_.model().tick;
            keep(tick, true);
            run_.after_commit();
            return check_all();
        }
        const auto tick = run_.world().commit();
        if (!run_.expect_ok(tick.status(), "commit")) return;
        ++run_.model().tick;
        keep(*tick, care % 16 == 3);
        run_.after_commit();
    }
    void commit_quietly() {
        commit();
        commit();
        if (!run_.has_failed()) queries_.expect_no_changes();
    }

    void go_back() {
        const Tick newest = ring().newest();
        const Tick tick = some_tick();
        if (tick == newest || !run_.one_in(3) || !leave_behind(tick, newest))
            run_.expect_ok(ring().rollback(tick).status(), "rollback");
        if (run_.has_failed()) return;
        ++run_.counts().rollbacks;
        const Kept& then = kept_at(tick);
        if (then.digest != 0) run_.expect(digest() == then.digest, "the bytes of the tick gone back to");
        run_.model() = then.model;
        run_.after_jump();
        run_.compare_all();
        if (run_.one_in(4)) queries_.compare_changes();
        if (run_.one_in(16)) check_all();
    }

    void look_back() {
        if (!futures_.empty() && run_.one_in(3)) return look_aside();
        const Tick tick = some_tick();
        auto past = run_.world().at(tick);
        if (is_over_budget(past.status())) past = run_.world().at(tick);
        if (!run_.expect_ok(past.status(), "the past")) return;
        ++run_.counts().looks_back;
        past_.compare(*past, kept_at(tick).model);
        run_.expect(run_.world().at(ring().newest() + 1).status() == Status::out_of_range, "the future");
    }

    void save() {
        const Tick tick = some_tick();
        file_.clear();
        const auto add = [](void* context, std::span<const std::byte> piece) noexcept {
            auto& all = *static_cast<std::vector<std::byte>*>(context);
            all.insert(all.end(), piece.begin(), piece.end());
            return Status::ok;
        };
        auto past = run_.world().at(tick);
        if (is_over_budget(past.status())) past = run_.world().at(tick);
        if (!run_.expect_ok(past.status(), "the past to be saved")) return;
        run_.expect_ok(write_world(*past, {.write = add, .context = &file_}).status(), "write_world");
        saved_ = kept_at(tick).model;
    }
    // What was loaded is a tick of its own, after that of what was there before.
    void load() {
        if (file_.empty()) save();
        if (run_.has_failed()) return;
        const std::span<const std::byte> bytes = file_;
        const auto tick = read_world(run_.world(), image_source(bytes));
        if (!run_.expect_ok(tick.status(), "read_world")) return;
        ++run_.model().tick;
        keep(*tick - 1, false);
        ++run_.counts().loads;
        run_.model() = saved_;
        run_.after_jump();
        keep(*tick, true);
        run_.compare_all();
        queries_.compare_changes();
    }

    // Another version of the program loads what this one saves.
    void migrate() {
        save();
        if (!run_.has_failed()) schema_.compare(file_, saved_);
    }

    void check_all() {
        run_.expect(run_.world().check() == Status::ok, "World::check");
        auto view = ring().view(ring().newest());
        if (is_over_budget(view.status())) view = ring().view(ring().newest());
        if (!run_.expect_ok(view.status(), "a view")) return;
        const auto reader = WorldReader::open(*view);
        run_.expect(reader && reader->check() == Status::ok, "WorldReader::check");
        run_.expect(ring().check() == Status::ok, "StateRing::check");
    }
    // No future is kept any more.
    void end() {
        while (!futures_.empty())
            drop_first();
    }

private:
    static constexpr std::size_t kKeptTicks = 64;
    static constexpr Tick kMostBack = 30;
    static constexpr std::size_t kMostFutures = 3;

    struct Kept {
        Tick tick = 0;
        WorldModel model;
        // Zero: nobody looked.
        std::uint64_t digest = 0;
    };
    struct Future {
        KeptFuture future;
        Tick tick = 0;
        WorldModel model;
    };

    StateRing& ring() { return run_.ring(); }
    Kept& kept_at(Tick tick) { return kept_[static_cast<std::size_t>(tick % kKeptTicks)]; }
    void keep(Tick tick, bool has_digest) {
        Kept& kept = kept_at(tick);
        ++run_.counts().ticks;
        kept.tick = tick;
        kept.model = run_.model();
        kept.digest = has_digest ? digest() : 0;
    }
    // Of all bytes that there are.
    std::uint64_t digest() {
        const MemoryBlock image = ring().image();
        return hash_bytes(image.data, image.size) | 1;
    }
    // One that can be gone back to; more often a late one.
    Tick some_tick() {
        const Tick newest = ring().newest();
        const Tick oldest = std::max(base_, ring().oldest());
        const Tick most = std::min({newest - oldest, kMostBack, Tick{1} << run_.below(6)});
        const Tick tick = newest - run_.below(static_cast<std::uint32_t>(most) + 1);
        run_.expect(kept_at(tick).tick == tick, "a copy of the tick");
        return tick;
    }

    // Goes back and keeps what was left; false when there was no room for it and nothing has changed.
    bool leave_behind(Tick tick, Tick newest) {
        if (futures_.size() == kMostFutures) {
            look_aside();
            if (!futures_.empty()) drop_first();
        }
        const auto left = ring().branch(tick);
        if (!left) {
            ++run_.counts().refusals;
            run_.expect(left.status() == Status::budget_exceeded, "branch");
            return false;
        }
        const Tick of_interest = newest - run_.below(static_cast<std::uint32_t>(newest - tick));
        ++run_.counts().futures;
        futures_.push_back({*left, of_interest, kept_at(of_interest).model});
        return true;
    }
    void look_aside() {
        Future& future = futures_[run_.below(static_cast<std::uint32_t>(futures_.size()))];
        const auto past = run_.world().at(future.future, future.tick);
        if (is_over_budget(past.status())) return;
        if (!run_.expect_ok(past.status(), "a kept future")) return;
        ++run_.counts().looks_aside;
        past_.compare(*past, future.model);
    }
    void drop_first() {
        run_.expect_ok(ring().drop(futures_.front().future).status(), "drop");
        futures_.erase(futures_.begin());
    }
    // Futures count as what is read. When that was too much they are given up, and it can be tried again.
    bool is_over_budget(Status status) {
        if (status != Status::budget_exceeded || futures_.empty()) return false;
        ++run_.counts().refusals;
        end();
        return true;
    }

    ModelRun& run_;
    QueryOperations& queries_;
    PastComparison past_;
    SchemaComparison schema_;
    Tick base_ = 0;
    std::vector<Kept> kept_;
    std::vector<Future> futures_;
    std::vector<std::byte> file_;
    WorldModel saved_;
};

}  // namespace ouro::testing_support
