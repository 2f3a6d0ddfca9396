#include "ecs/ecs_case.hpp"

#include <memory>

namespace ouro::bench {

Work work_on(const EcsCandidate& candidate, const EcsWork& work) {
    // Shared, since work is copied.
    const auto kept = std::make_shared<std::unique_ptr<EcsWorld>>();
    return [kept, work, make = candidate.make](Round& round) {
        std::unique_ptr<EcsWorld>& world = *kept;
        if (work.renews) world.reset();
        if (!world) {
            world = make(work.capacity);
            work.prepare(*world);
        }
        work.run(*world, round);
        if (work.renews) world.reset();
    };
}

Case ecs_case(Session& session, const std::string& name, const EcsWork& work,
              const std::vector<EcsCandidate>& peers) {
    Case measured = session.measure(name, kNanoseconds);
    std::string notes;
    const auto add_note = [&](const std::string& text) { notes += (notes.empty() ? "" : "; ") + text; };
    const EcsCandidate ours = our_ecs();
    if (!ours.version.empty() && ours.has(work.needs))
        measured.ours(work_on(ours, work));
    else
        add_note("ours is not measured: it is not there yet");
    for (const EcsCandidate& peer : peers) {
        if (peer.version.empty())
            measured.missing_peer(peer.name, "give its headers with --peers");
        else if (peer.has(work.needs))
            measured.peer(peer.name, peer.version, work_on(peer, work));
        else
            add_note(peer.name + " has none");
    }
    if (raw_arrays().has(work.needs)) measured.bound("raw arrays", work_on(raw_arrays(), work));
    if (!notes.empty()) measured.note(notes);
    measured.against_the_best({});
    return measured;
}

std::string count_name(std::uint64_t count) {
    if (count % 1'000'000 == 0) return std::to_string(count / 1'000'000) + "M";
    return count % 1'000 == 0 ? std::to_string(count / 1'000) + "k" : std::to_string(count);
}

}  // namespace ouro::bench
