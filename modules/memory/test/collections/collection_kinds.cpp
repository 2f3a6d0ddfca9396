#include "collection_kinds.hpp"

#include "bit_models.hpp"
#include "interner_model.hpp"
#include "ring_model.hpp"
#include "soa_model.hpp"
#include "sparse_model.hpp"
#include "tracked.hpp"
#include "vector_model.hpp"

#include <array>

namespace ouro::testing_support {
namespace {

using ModelPointer = std::unique_ptr<CollectionModel>;

// Aligned to more than a cache line.
struct alignas(128) Wide {
    std::uint64_t value = 0;

    Wide() = default;
    explicit Wide(std::uint32_t number) : value(number) {}
    friend bool operator==(const Wide&, const Wide&) = default;
};

template <class Model>
ModelPointer make_usual(MemoryResource& resource, std::uint64_t seed) {
    return std::make_unique<Model>(resource, seed);
}

template <class Model>
ModelPointer make_without_memory(MemoryResource&, std::uint64_t seed) {
    return std::make_unique<Model>(seed);
}

template <class T, std::size_t ChunkValues, std::size_t kMaxRawChunks>
ModelPointer make_sparse(MemoryResource& resource, std::uint64_t seed) {
    return std::make_unique<SparseModel<T, ChunkValues>>(resource, kMaxRawChunks, seed);
}

constexpr std::array kKinds = {
    CollectionKind{"VectorOfBytes", make_usual<VectorModel<std::uint8_t>>},
    CollectionKind{"VectorOfNumbers", make_usual<VectorModel<double>>},
    CollectionKind{"VectorOfTexts", make_usual<VectorModel<std::string>>},
    CollectionKind{"VectorOfTracked", make_usual<VectorModel<Tracked>>},
    CollectionKind{"RingOfNumbers", make_usual<RingModel<std::uint32_t>>},
    CollectionKind{"RingOfTracked", make_usual<RingModel<Tracked>>},
    CollectionKind{"BitSet", make_usual<BitSetModel>},
    CollectionKind{"FixedBitSet", make_without_memory<FixedBitSetModel<200>>, false},
    CollectionKind{"BitFlags", make_without_memory<FlagsModel>, false},
    CollectionKind{"PlainColumns", make_usual<SoaModel<float, std::uint8_t, double>>},
    CollectionKind{"MixedColumns",
                   make_usual<SoaModel<std::uint16_t, Tracked, std::unique_ptr<std::uint32_t>, Wide>>},
    CollectionKind{"SparseOneRawChunk", make_sparse<std::uint32_t, 64, 1>},
    CollectionKind{"SparseManyRawChunks", make_sparse<Wide, 128, 8>},
    CollectionKind{"Interner", make_usual<InternerModel>},
};

}  // namespace

std::span<const CollectionKind> collection_kinds() {
    return kKinds;
}

}  // namespace ouro::testing_support
