#pragma once

#include "collection_model.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace ouro::testing_support {

// A collection with its elements' type, as campaigns choose one.
struct CollectionKind {
    std::string_view name;
    std::unique_ptr<CollectionModel> (*make)(MemoryResource& resource, std::uint64_t seed) = nullptr;
    // False where all is inside the collection.
    bool allocates = true;
};

// All of them. A new collection is a model and a line in collection_kinds.cpp.
[[nodiscard]] std::span<const CollectionKind> collection_kinds();

}  // namespace ouro::testing_support
