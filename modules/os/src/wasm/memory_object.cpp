#include <ouro/os/memory_object.hpp>

#include <utility>

// Linear memory has one address a byte: no object can be created, so that there is never one to map.
namespace ouro::os {

Mapping::Mapping(Mapping&& other) noexcept
    : block_(std::exchange(other.block_, {})),
      within_reservation_(std::exchange(other.within_reservation_, false)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    block_ = std::exchange(other.block_, {});
    within_reservation_ = std::exchange(other.within_reservation_, false);
    return *this;
}

Mapping::~Mapping() = default;

Expected<MemoryObject> MemoryObject::create(std::size_t, const char*) noexcept {
    return Status::not_supported;
}

Expected<MemoryObject> MemoryObject::open(int) noexcept {
    return Status::not_supported;
}

Expected<MemoryObject> MemoryObject::open_of(std::uint32_t, int) noexcept {
    return Status::not_supported;
}

MemoryObject::MemoryObject(MemoryObject&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(std::exchange(other.size_, 0)) {}

MemoryObject& MemoryObject::operator=(MemoryObject&& other) noexcept {
    descriptor_ = std::exchange(other.descriptor_, -1);
    size_ = std::exchange(other.size_, 0);
    return *this;
}

MemoryObject::~MemoryObject() = default;

Expected<Mapping> MemoryObject::map(const MapRequest&) const noexcept {
    return Status::not_supported;
}

Expected<void> MemoryObject::grow(std::size_t) noexcept {
    return Status::not_supported;
}

Expected<void> MemoryObject::discard(std::size_t, std::size_t) noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
