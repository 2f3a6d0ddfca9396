// ouro-ecs-probe <case> <entities> <milliseconds>
//
// Does the work of a case again and again for so long, at least ten times, and prints the least time of one
// operation in nanoseconds, and a checksum of the work.
#include "ecs/ecs_peers.hpp"

#include <ouro/base/random.hpp>
#include <ouro/os/clock.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <string_view>

namespace {

using namespace ouro::bench;

class Probe {
public:
    Probe(std::uint32_t entities, std::uint64_t milliseconds)
        : rows_(entities), world_(our_ecs().make(entities)), most_ns_(milliseconds * 1'000'000) {}

    // False when there is no such case.
    bool run(std::string_view name) {
        if (name == "loop") {
            iterate(Population::pairs, &EcsWorld::integrate);
        } else if (name == "kinds") {
            iterate(Population::ten_kinds, &EcsWorld::integrate_scaled);
        } else if (name == "get") {
            get();
        } else if (name == "create") {
            create();
        } else if (name == "change") {
            change();
        } else if (name == "commit") {
            commit();
        } else {
            return false;
        }
        std::printf("%.4f %llu\n", best_ns_, static_cast<unsigned long long>(checksum_));
        return true;
    }

private:
    // What is not timed, and what is: `operations` of it.
    template <class Before, class Work, class After>
    void repeat(std::uint64_t operations, Before&& before, Work&& work, After&& after) {
        constexpr unsigned kFewest = 10;
        const std::uint64_t start = ouro::os::monotonic_ns();
        best_ns_ = 1e18;
        for (unsigned turn = 0; turn < kFewest || ouro::os::monotonic_ns() - start < most_ns_; ++turn) {
            before();
            const std::uint64_t begin = ouro::os::monotonic_ns();
            work();
            const auto elapsed = static_cast<double>(ouro::os::monotonic_ns() - begin);
            best_ns_ = std::min(best_ns_, elapsed / static_cast<double>(operations));
            after();
        }
    }

    void iterate(Population population, void (EcsWorld::*loop)(unsigned)) {
        constexpr unsigned kTimes = 4;
        world_->populate(population, rows_);
        repeat(
            std::uint64_t{rows_.size()} * kTimes, [&] { world_->rewind(); },
            [&] { (world_.get()->*loop)(kTimes); }, [&] { checksum_ = world_->checksum(); });
    }
    void get() {
        std::vector<std::uint32_t> order(rows_.size());
        std::iota(order.begin(), order.end(), 0U);
        ouro::Random random(6);
        for (std::uint32_t i = rows_.size(); i > 1; --i)
            std::swap(order[i - 1], order[random.below(i)]);
        world_->populate(Population::pairs, rows_);
        repeat(rows_.size(), [] {}, [&] { checksum_ = world_->get(order); }, [] {});
    }
    void create() {
        repeat(
            rows_.size(), [] {}, [&] { world_->create_each(rows_); },
            [&] {
                checksum_ = world_->checksum();
                world_->destroy_bulk();
            });
    }
    void change() {
        world_->populate(Population::pairs, rows_);
        repeat(
            2 * std::uint64_t{rows_.size()}, [] {},
            [&] {
                world_->add(Change::moved);
                world_->remove(Change::moved);
            },
            [&] { checksum_ = world_->checksum(); });
    }
    void commit() {
        world_->populate(Population::quads, rows_);
        world_->prepare_save();
        repeat(
            rows_.size(), [&] { world_->write_all(); }, [&] { world_->save(); },
            [&] { checksum_ = world_->checksum(); });
    }

    EntityRows rows_;
    std::unique_ptr<EcsWorld> world_;
    std::uint64_t most_ns_;
    double best_ns_ = 0;
    std::uint64_t checksum_ = 0;
};

// Zero when it is none.
std::uint32_t number_in(std::string_view text) {
    std::uint32_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint32_t entities = argc == 4 ? number_in(argv[2]) : 0;
    const std::uint32_t milliseconds = argc == 4 ? number_in(argv[3]) : 0;
    if (entities == 0 || !Probe(entities, milliseconds).run(argv[1])) {
        std::fprintf(stderr,
                     "usage: ouro-ecs-probe loop|kinds|get|create|change|commit ENTITIES MILLISECONDS\n");
        return 2;
    }
    return 0;
}
