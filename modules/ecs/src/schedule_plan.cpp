#include <ouro/ecs/schedule.hpp>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

namespace ouro {

using detail::SystemRecord;

// Finds the order of systems and what each waits for.
class Schedule::Planner {
public:
    explicit Planner(Schedule& schedule) noexcept
        : own_(schedule), said_(schedule.allocator_), reaches_(schedule.allocator_) {}

    [[nodiscard]] Status plan() noexcept {
        own_.order_.clear();
        own_.edges_.clear();
        own_.problem_length_ = 0;
        if (own_.failure_ != Status::ok) return say(own_.failure_, {"something could not be added"});
        Status status = find_doubles();
        if (status == Status::ok) status = resolve();
        for (std::uint32_t stage = 0; stage < own_.stages_.size() && status == Status::ok; ++stage)
            status = order_stage(stage);
        if (status == Status::ok) status = connect();
        for (Stage& stage : own_.stages_)
            if (status == Status::ok) status = make_graph(stage);
        return status;
    }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    [[nodiscard]] std::uint32_t count() const noexcept {
        return static_cast<std::uint32_t>(own_.systems_.size());
    }
    [[nodiscard]] const SystemRecord& system(std::uint32_t number) const noexcept {
        return *own_.systems_[number];
    }
    Status say(Status status, std::initializer_list<std::string_view> parts) noexcept {
        for (const std::string_view part : parts) {
            const std::size_t room = own_.problem_.size() - own_.problem_length_;
            const std::size_t length = std::min(part.size(), room);
            std::copy_n(part.data(), length, own_.problem_.data() + own_.problem_length_);
            own_.problem_length_ += length;
        }
        return status;
    }

    Status find_doubles() noexcept {
        for (std::uint32_t one = 0; one < count(); ++one)
            for (std::uint32_t other = one + 1; other < count(); ++other)
                if (system(one).name == system(other).name)
                    return say(Status::bad_argument, {"two systems are called ", system(one).name.view()});
        return Status::ok;
    }

    [[nodiscard]] std::uint32_t find(const Constraint& constraint) const noexcept {
        if (constraint.other != kNone) return constraint.other;
        for (std::uint32_t number = 0; number < count(); ++number) {
            const SystemRecord& each = system(number);
            if (constraint.identity != nullptr ? each.identity == constraint.identity
                                               : each.name == constraint.name)
                return number;
        }
        return kNone;
    }

    // What was said, as edges between systems.
    Status resolve() noexcept {
        for (const Constraint& constraint : own_.constraints_) {
            const std::uint32_t other = find(constraint);
            const std::string_view name = system(constraint.system).name.view();
            const std::string_view side = constraint.is_after ? " runs after " : " runs before ";
            if (other == kNone) {
                const std::string_view wanted =
                    constraint.identity != nullptr ? std::string_view("a function") : constraint.name.view();
                return say(Status::not_found, {name, side, wanted, ", which is not in the schedule"});
            }
            Edge edge{constraint.system, other, false};
            if (constraint.is_after) std::swap(edge.before, edge.after);
            if (system(edge.before).stage > system(edge.after).stage)
                return say(Status::dependency_cycle,
                           {name, side, system(other).name.view(), ", but their stages say otherwise"});
            if (system(edge.before).stage != system(edge.after).stage) continue;
            if (const auto kept = said_.push_back(edge); !kept) return kept.status();
        }
        return Status::ok;
    }

    [[nodiscard]] bool is_placed(std::uint32_t number) const noexcept {
        return std::ranges::find(own_.order_, number) != own_.order_.end();
    }
    // Of the systems that it waits for, one that has no place yet.
    [[nodiscard]] std::uint32_t awaited_by(std::uint32_t number) const noexcept {
        for (const Edge& edge : said_)
            if (edge.after == number && !is_placed(edge.before)) return edge.before;
        return kNone;
    }

    // Of those that wait for nothing always the one that was added first.
    Status order_stage(std::uint32_t stage) noexcept {
        Stage& own = own_.stages_[stage];
        own.first = static_cast<std::uint32_t>(own_.order_.size());
        for (;;) {
            std::uint32_t next = kNone;
            std::uint32_t stuck = kNone;
            for (std::uint32_t number = 0; number < count() && next == kNone; ++number) {
                if (system(number).stage != stage || is_placed(number)) continue;
                if (awaited_by(number) == kNone)
                    next = number;
                else
                    stuck = number;
            }
            if (next == kNone && stuck != kNone) return tell_cycle(stuck);
            if (next == kNone) break;
            own_.systems_[next]->place = static_cast<std::uint32_t>(own_.order_.size());
            if (const auto kept = own_.order_.push_back(next); !kept) return kept.status();
        }
        own.end = static_cast<std::uint32_t>(own_.order_.size());
        return Status::ok;
    }

    Status tell_cycle(std::uint32_t stuck) noexcept {
        // Going back often enough, one is on the circle itself.
        for (std::uint32_t step = 0; step < count(); ++step)
            stuck = awaited_by(stuck);
        say(Status::dependency_cycle, {"systems wait for each other: ", system(stuck).name.view()});
        for (std::uint32_t number = awaited_by(stuck); number != stuck; number = awaited_by(number))
            say(Status::dependency_cycle, {" after ", system(number).name.view()});
        return say(Status::dependency_cycle, {" after ", system(stuck).name.view()});
    }

    [[nodiscard]] bool is_said(std::uint32_t before, std::uint32_t after) const noexcept {
        return std::ranges::any_of(said_, [&](const Edge& edge) {
            return edge.before == own_.order_[before] && edge.after == own_.order_[after];
        });
    }
    [[nodiscard]] std::span<std::uint64_t> reaching(std::uint32_t place) noexcept {
        const std::size_t words = (own_.order_.size() + 63) / 64;
        return reaches_.span().subspan(place * words, words);
    }

    // Edges between places, without those that follow from others.
    Status connect() noexcept {
        const std::size_t words = (own_.order_.size() + 63) / 64;
        if (const Status status = reaches_.resize(own_.order_.size() * words); status != Status::ok)
            return status;
        std::ranges::fill(reaches_, 0);
        for (const Stage& stage : own_.stages_)
            for (std::uint32_t after = stage.first; after < stage.end; ++after)
                if (const Status status = connect(stage, after); status != Status::ok) return status;
        return Status::ok;
    }
    Status connect(const Stage& stage, std::uint32_t after) noexcept {
        own_.at(after).depth = 0;
        const std::span<std::uint64_t> known = reaching(after);
        for (std::uint32_t before = after; before-- != stage.first;) {
            if ((known[before / 64] >> (before % 64) & 1) != 0) continue;
            const bool is_wanted = is_said(before, after);
            if (!is_wanted && !do_conflict(own_.at(before).access, own_.at(after).access)) continue;
            if (const auto kept = own_.edges_.push_back({before, after, !is_wanted}); !kept)
                return kept.status();
            own_.at(after).depth = std::max(own_.at(after).depth, own_.at(before).depth + 1);
            known[before / 64] |= std::uint64_t{1} << (before % 64);
            const std::span<const std::uint64_t> further = reaching(before);
            for (std::size_t word = 0; word < known.size(); ++word)
                known[word] |= further[word];
        }
        return Status::ok;
    }

    Status make_graph(Stage& stage) noexcept {
        stage.graph.clear();
        for (std::uint32_t place = stage.first; place < stage.end; ++place) {
            const auto task = stage.graph.add(
                [schedule = &own_, record = &own_.at(place)] { schedule->run_system(*record); });
            if (!task) return task.status();
        }
        for (const Edge& edge : own_.edges_) {
            if (edge.before < stage.first || edge.before >= stage.end) continue;
            const auto ordered =
                stage.graph.order(TaskId{edge.before - stage.first}, TaskId{edge.after - stage.first});
            if (!ordered) return ordered.status();
        }
        return stage.graph.prepare().status();
    }

    Schedule& own_;
    // Between numbers of systems.
    PooledVector<Edge> said_;
    // For each place the places before it that it waits for in the end, as bits.
    PooledVector<std::uint64_t> reaches_;
};

Expected<void> Schedule::prepare() noexcept {
    const Status status = Planner(*this).plan();
    is_prepared_ = status == Status::ok;
    if (is_prepared_) return {};
    order_.clear();
    edges_.clear();
    return problem_length_ != 0 ? status : tell(status, {"the order of systems could not be kept"});
}

}  // namespace ouro
