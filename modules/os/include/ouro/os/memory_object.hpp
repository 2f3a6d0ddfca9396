#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstddef>
#include <cstdint>

// Memory that exists apart from its addresses, so that it can be mapped at several of them at once: a write
// through one mapping is seen through all. wasm32 has one address per byte; create answers not_supported
// there.
namespace ouro::os {

struct MapRequest {
    // Both multiples of a page.
    std::size_t offset = 0;
    std::size_t bytes = 0;
    Protection protection = Protection::read_write;
    // The exact address wanted, or null for any. Never replaces what is there: address_in_use.
    void* address = nullptr;
    // Instead of an address: a range of the caller's own reservation of exactly `bytes`, which the mapping
    // takes over and gives back, reserved as before, when it ends. Requires: the reservation lives longer.
    MemoryBlock within = {};
};

// One view of a memory object; unmapped when it goes out of scope. It keeps the memory alive by itself: the
// object may be gone before.
class Mapping {
public:
    constexpr Mapping() noexcept = default;
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();

    // Null after a move.
    [[nodiscard]] MemoryBlock block() const noexcept { return block_; }

private:
    friend class MemoryObject;
    Mapping(MemoryBlock block, bool within_reservation) noexcept
        : block_(block), within_reservation_(within_reservation) {}

    MemoryBlock block_;
    bool within_reservation_ = false;
};

class MemoryObject {
public:
    // A new object of zero bytes, rounded up to whole pages; memory is taken as it is written. The name shows
    // up in the system's list of mappings. The object can grow but never shrink, so that no mapping of it
    // loses its ground. Fails with zero_size, size_overflow, too_many_files, out_of_memory or not_supported.
    [[nodiscard]] static Expected<MemoryObject> create(std::size_t bytes, const char* name) noexcept;

    // The object behind a descriptor, as another process created it and passed it on; the descriptor stays
    // the caller's. Fails with bad_argument (not an open descriptor), wrong_format (no memory object, or one
    // that could shrink under its mappings), zero_size (an empty one), size_overflow, too_many_files or
    // not_supported.
    [[nodiscard]] static Expected<MemoryObject> open(int descriptor) noexcept;
    // The object that another process has open under that number, for reading only: it can be mapped with
    // Protection::read, and whatever else is asked of it fails. As above, and with not_found (no such process
    // or descriptor) and permission_denied (the system lets only the same user look, or a debugger).
    [[nodiscard]] static Expected<MemoryObject> open_of(std::uint32_t process, int descriptor) noexcept;

    constexpr MemoryObject() noexcept = default;
    MemoryObject(MemoryObject&& other) noexcept;
    MemoryObject& operator=(MemoryObject&& other) noexcept;
    ~MemoryObject();

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // The file descriptor that another process can be given; owned by this object.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    // Fails as os::reserve does, and with out_of_range when the range is not inside the object.
    [[nodiscard]] Expected<Mapping> map(const MapRequest& request) const noexcept;

    // Raises the size to at least the given one. Fails with out_of_memory or size_overflow.
    Expected<void> grow(std::size_t bytes) noexcept;

    // Returns the memory of whole pages to the system; they read zero afterwards, in every mapping. No
    // tracker of writes notices.
    Expected<void> discard(std::size_t offset, std::size_t bytes) noexcept;

private:
    MemoryObject(int descriptor, std::size_t size) noexcept : descriptor_(descriptor), size_(size) {}

    int descriptor_ = -1;
    std::size_t size_ = 0;
};

}  // namespace ouro::os
