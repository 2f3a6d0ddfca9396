// Code that was not written for it under the ring: what its ticks cost with and without. As much of it as is
// installed; each library has a file of its own.
#include "ring/ring_suite.hpp"

namespace ouro::bench {

std::vector<ForeignMeasure>& foreign_measures() {
    static std::vector<ForeignMeasure> measures;
    return measures;
}

void measure_foreign_code(Session& session) {
    for (const ForeignMeasure measure : foreign_measures())
        measure(session);
}

}  // namespace ouro::bench
