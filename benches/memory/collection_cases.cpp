// The collections beside those of the standard library. Both sides take their memory from malloc, through the
// same counters, so that only the collections differ.
#include "memory/collections/collection_suite.hpp"
#include "memory/memory_suite.hpp"

namespace ouro::bench {

void measure_collections(Session& session) {
    measure_vectors(session);
    measure_rings(session);
    measure_interner(session);
    measure_bits(session);
    measure_columns(session);
    measure_sparse_arrays(session);
}

}  // namespace ouro::bench
