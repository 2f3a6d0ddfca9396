#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace ouro {

struct DumpRequest {
    // Files of saved images, or the number of one running process. Several files are for a tick to be chosen
    // among, or for a drawing of the last one, in which the others tell how often its pages changed.
    std::vector<std::string> targets;
    // Empty: the first segment that holds a world.
    std::string segment;
    // "<slot>" or "<slot>:<generation>": or a name: this one only, instead of the whole world.
    std::string entity;
    // By the world's own count: of several files the one that holds this tick is shown.
    std::optional<std::uint32_t> tick;
    // A file to compare with: what leads from there to the target.
    std::string against;
    // Where a drawing goes instead; "-" for the output.
    std::string svg;
    bool as_json = false;
    // Of a process, for a drawing: how often it is looked at, and how long it is left alone in between.
    std::uint32_t samples = 1;
    double interval_seconds = 0.05;
};

// The exit code: 0, 1 when it cannot be done, 2 for a request that makes no sense.
int run_dump(const DumpRequest& request, std::ostream& out, std::ostream& errors);

}  // namespace ouro
