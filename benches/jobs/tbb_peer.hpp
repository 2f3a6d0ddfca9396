#pragma once

#include "jobs/loop_work.hpp"

#include <cstddef>
#include <span>
#include <string>

// oneTBB as a peer; the file behind this is chosen by CMake from what the machine has.
namespace ouro::bench::tbb_peer {

// Empty when this program was built without it.
[[nodiscard]] std::string version();

// How ranges are cut: as the library finds best, or down to the grain.
enum class Partition { automatic, simple };

void mark_all(Marks& marks, Partition partition);
// One task a mark, run by a group that is waited for.
void mark_in_tasks(Marks& marks);
void integrate_all(std::span<float> positions, std::span<const float> speeds, std::size_t grain,
                   Partition partition);

}  // namespace ouro::bench::tbb_peer
