#include "harness/case.hpp"

#include "harness/pinning.hpp"
#include "harness/report.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ouro::bench {
namespace {

// Writes to more than fits into any of them. Never returned, so that no candidate gets it.
void empty_caches() {
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    constexpr std::size_t kLineBytes = 64;
    static std::vector<unsigned char> memory(kBytes);
    for (std::size_t offset = 0; offset < kBytes; offset += kLineBytes) {
        volatile unsigned char& line = memory[offset];
        line = static_cast<unsigned char>(line + 1);
    }
}

}  // namespace

Case::Case(Session& session, RowLabel label, const Unit& unit)
    : session_(session), unit_(unit), plan_(session.default_plan()) {
    common_.label = std::move(label);
}

std::size_t Case::add_candidate(std::string name, Work work) {
    candidates_.push_back({std::move(name), std::move(work)});
    return candidates_.size() - 1;
}

Case& Case::ours(Work work) {
    ours_ = add_candidate("ours", std::move(work));
    return *this;
}

Case& Case::peer(std::string name, std::string version, Work work, std::optional<Bar> own_bar) {
    const std::size_t candidate = add_candidate(name, std::move(work));
    peers_.push_back({std::move(name), std::move(version), candidate, own_bar, {}});
    return *this;
}

Case& Case::missing_peer(std::string name, std::string how_to_get_it) {
    peers_.push_back({std::move(name), {}, {}, {}, std::move(how_to_get_it)});
    return *this;
}

Case& Case::against_the_best(std::vector<std::string> and_always) {
    best_only_ = true;
    always_shown_ = std::move(and_always);
    return *this;
}

Case& Case::bound(std::string name, Work work) {
    common_.bound_name = name;
    bound_ = add_candidate(std::move(name), std::move(work));
    return *this;
}

Case& Case::bar(const Bar& bar) {
    common_.bar = bar;
    return *this;
}

Case& Case::note(std::string text) {
    common_.note = std::move(text);
    return *this;
}

Case& Case::operations(std::uint64_t count) {
    plan_.operations = count;
    return *this;
}

Case& Case::rounds_at_most(unsigned count) {
    plan_.rounds = std::min(plan_.rounds, count);
    return *this;
}

Case& Case::median() {
    plan_.statistic = Statistic::median;
    return *this;
}

Case& Case::cold() {
    cold_ = true;
    return *this;
}

Case& Case::different_results() {
    plan_.same_results = false;
    return *this;
}

Case& Case::on_any_core() {
    pinned_ = false;
    return *this;
}

std::string Case::statistic_text() const {
    const bool minimum = plan_.statistic == Statistic::minimum;
    return (minimum ? "min of " : "median of ") + std::to_string(plan_.rounds);
}

std::vector<Outcome> Case::measure_candidates() const {
    const PinnedScope pinned(pinned_);
    return run_alternating(candidates_, plan_, [this](unsigned round, const Candidate& candidate) {
        session_.progress_.show(common_.label.suite + ": " + common_.label.name + ", " + candidate.name +
                                ", round " + std::to_string(round) + "/" + std::to_string(plan_.rounds));
        if (cold_) empty_caches();
    });
}

Row Case::row_against(const Peer& peer, const std::vector<Outcome>& outcomes) const {
    Row row = common_;
    row.statistic = statistic_text();
    if (ours_) {
        row.ours = unit_.value_of(outcomes[*ours_].ns);
        row.memory_bytes = outcomes[*ours_].memory_bytes;
    }
    if (bound_) row.bound = unit_.value_of(outcomes[*bound_].ns);
    row.peer = peer.name;
    row.peer_version = peer.version;
    if (peer.bar) row.bar = peer.bar;
    if (!peer.note.empty()) row.note += (row.note.empty() ? "" : "; ") + peer.note;
    if (peer.candidate) {
        row.peer_value = unit_.value_of(outcomes[*peer.candidate].ns);
        row.peer_memory_bytes = outcomes[*peer.candidate].memory_bytes;
    }
    return row;
}

const Case::Peer* Case::best_peer(const std::vector<Outcome>& outcomes) const {
    const Peer* best = nullptr;
    for (const Peer& peer : peers_) {
        if (!peer.candidate) continue;
        if (best == nullptr || outcomes[*peer.candidate].ns < outcomes[*best->candidate].ns) best = &peer;
    }
    return best;
}

std::string Case::figures_beside(const Peer* best, const std::vector<Outcome>& outcomes) const {
    std::string figures;
    std::string missing;
    for (const Peer& peer : peers_) {
        if (&peer == best) continue;
        std::string& list = peer.candidate ? figures : missing;
        list += (list.empty() ? "" : ", ") + peer.name;
        if (peer.candidate)
            list += " " + peer.version + " " + short_number(unit_.value_of(outcomes[*peer.candidate].ns));
    }
    if (!figures.empty()) figures.insert(0, "others: ");
    if (!missing.empty()) figures += (figures.empty() ? "not here: " : "; not here: ") + missing;
    return figures;
}

void Case::add_rows_against_the_best(const std::vector<Outcome>& outcomes) {
    const Peer* best = best_peer(outcomes);
    Row row = row_against(best != nullptr ? *best : Peer(), outcomes);
    const std::string beside = figures_beside(best, outcomes);
    if (!beside.empty()) row.note += (row.note.empty() ? "" : "; ") + beside;
    const bool replaced = row.bar && common_.bar && row.bar->figure != common_.bar->figure;
    session_.add_row(std::move(row));
    // What the best peer's own bar does not say is judged beside nobody.
    if (replaced) session_.add_row(row_against({}, outcomes));
    for (const Peer& peer : peers_) {
        const bool named =
            std::find(always_shown_.begin(), always_shown_.end(), peer.name) != always_shown_.end();
        if (named && &peer != best) session_.add_row(row_against(peer, outcomes));
    }
}

void Case::run() {
    if (!session_.wants(common_.label.name)) return;
    std::vector<Outcome> outcomes;
    try {
        outcomes = measure_candidates();
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(common_.label.suite + ": " + common_.label.name + ": " + error.what());
    }
    if (best_only_) return add_rows_against_the_best(outcomes);
    if (peers_.empty()) session_.add_row(row_against({}, outcomes));
    for (const Peer& peer : peers_)
        session_.add_row(row_against(peer, outcomes));
}

void Case::unavailable(std::string why) {
    if (!session_.wants(common_.label.name)) return;
    Row row = common_;
    row.note = "not measured: " + std::move(why);
    session_.add_row(std::move(row));
}

}  // namespace ouro::bench
