#pragma once

#include "harness/measure.hpp"
#include "harness/row.hpp"
#include "harness/session.hpp"
#include "harness/unit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ouro::bench {

// One thing to measure: ours, beside any number of peers and a lower bound. Gives one row a peer, or one row
// when there is none. Say what there is, then run():
//
//     session.measure("protect a page", kNanoseconds)
//         .ours(repeat([&](std::uint64_t i) { ... }))
//         .peer("mprotect(2)", kernel_version(), repeat(...))
//         .bar(ratio_at_most(1.05))
//         .run();
//
// What the work refers to must live until run() returns.
class Case {
public:
    Case(Session& session, RowLabel label, const Unit& unit);

    Case& ours(Work work);
    // A bar of its own replaces the case's for this peer's row.
    Case& peer(std::string name, std::string version, Work work, std::optional<Bar> own_bar = {});
    // A peer that is not on this machine: its row says so, and whether the bar is met is unknown.
    Case& missing_peer(std::string name, std::string how_to_get_it);
    // Instead of a row a peer: one against the fastest of them, with the others' figures in its note, and one
    // each against those named here. What a bar says of "the best peer" is judged by the first. Where the
    // fastest has a bar of its own about another figure than the case's, a row without a peer has the case's.
    Case& against_the_best(std::vector<std::string> and_always);
    Case& bound(std::string name, Work work);
    Case& bar(const Bar& bar);
    Case& note(std::string text);

    // So many operations in each round, instead of as many as fit its time.
    Case& operations(std::uint64_t count);
    // Fewer rounds than usual, for work that takes long.
    Case& rounds_at_most(unsigned count);
    Case& median();
    // Every turn begins with nothing of the candidates' memory in the processor's caches. For work that is
    // over before it has filled them: otherwise it matters who came before, and whether both use the same
    // memory, as the pools of the standard library use that of the system's malloc.
    Case& cold();
    // The candidates rightly compute different things.
    Case& different_results();
    // Several threads take part: the measuring thread is not kept on one core.
    Case& on_any_core();

    // Measures and adds the rows, if the session wants them. Throws std::runtime_error when the candidates'
    // checksums disagree.
    void run();
    // Instead of run(): a row without figures that says why.
    void unavailable(std::string why);

private:
    struct Peer {
        std::string name;
        std::string version;
        std::optional<std::size_t> candidate;
        std::optional<Bar> bar;
        std::string note;
    };

    [[nodiscard]] std::vector<Outcome> measure_candidates() const;
    [[nodiscard]] Row row_against(const Peer& peer, const std::vector<Outcome>& outcomes) const;
    [[nodiscard]] std::string statistic_text() const;
    // Null when no peer was measured.
    [[nodiscard]] const Peer* best_peer(const std::vector<Outcome>& outcomes) const;
    [[nodiscard]] std::string figures_beside(const Peer* best, const std::vector<Outcome>& outcomes) const;
    void add_rows_against_the_best(const std::vector<Outcome>& outcomes);
    std::size_t add_candidate(std::string name, Work work);

    Session& session_;
    Row common_;
    Unit unit_;
    Plan plan_;
    bool pinned_ = true;
    bool cold_ = false;
    std::vector<Candidate> candidates_;
    std::optional<std::size_t> ours_;
    std::optional<std::size_t> bound_;
    std::vector<Peer> peers_;
    bool best_only_ = false;
    std::vector<std::string> always_shown_;
};

}  // namespace ouro::bench
