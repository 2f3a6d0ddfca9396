#include "jobs/tbb_peer.hpp"

namespace ouro::bench::tbb_peer {

std::string version() {
    return {};
}

void mark_all(Marks&, Partition) {}
void mark_in_tasks(Marks&) {}
void integrate_all(std::span<float>, std::span<const float>, std::size_t, Partition) {}

}  // namespace ouro::bench::tbb_peer
