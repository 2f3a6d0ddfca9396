#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/fixed_string.hpp>
#include <ouro/base/memory_block.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/base/sim_value.hpp>
#include <ouro/memory/tlsf_heap.hpp>
#include <ouro/streams/dirty_map.hpp>
#include <ouro/streams/image_owner.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace ouro {

// The front of a segment that holds a heap, as bytes that mean the same everywhere. The TlsfHeap lies behind.
struct ImageHeapHeader {
    struct Root {
        FixedString<23> name;
        // From the start of the image; zero: the slot is free.
        std::uint32_t offset;
        std::uint32_t bytes;
    };
    static constexpr std::size_t kMaxRoots = 15;
    static constexpr std::array<char, 8> kMagic = {'o', 'u', 'r', 'o', 'h', 'e', 'a', 'p'};
    static constexpr std::uint32_t kVersion = 1;

    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t root_count;
    std::uint64_t segment_bytes;
    // What lies between this and the heap: a bit for each unit of the segment, set where a block begins; none
    // unless asked for.
    std::uint64_t notes_bytes;
    std::array<Root, kMaxRoots> roots;
};
static_assert(sizeof(ImageHeapHeader) == 512 && sizeof(ImageHeapHeader::Root) == 32);
static_assert(offsetof(ImageHeapHeader, segment_bytes) == 16 && offsetof(ImageHeapHeader, roots) == 32);
static_assert(offsetof(ImageHeapHeader::Root, offset) == 24 && SimKey<ImageHeapHeader>);

struct ImageHeapOptions {
    // Notes where each block begins, for reports of who has a byte: a bit for 16 bytes of the segment, and a
    // write for each call. Images with notes have other bytes than images without.
    bool notes_blocks = false;
    // Begins anew where a heap lies already, as in an image that was loaded: all that is in it is lost.
    // Without, create() refuses, and attach() takes it over.
    bool replaces = false;
};

// A heap inside a segment of a ring's image. All that it knows lies there too, so that going back takes
// allocations back as well; what it writes, it declares. The handle is a small value that can be copied, and
// stays good over commits, rollbacks and branches.
//
//     auto heap = ImageHeap::create(ring, "world");
//     auto town = heap->make_root<Town>("town");         // Expected<OffsetPtr<Town>>, zero
//     heap->edit(*town).gold = 100;                      // marks, then writes
//     auto houses = heap->bind(heap->edit(*town).houses) // a SimVec of it; see sim_vec.hpp
//
// Memory handed out is zero, to the end of the last unit, whatever lay there before: cleared when it is
// handed out, not when it is freed, so that freeing does not write to it. Equal calls leave equal bytes in
// every build and on every platform.
//
// One thread at a time, as all that writes allocations: at barriers, or with the image for itself.
class ImageHeap final {
public:
    static constexpr std::size_t kUnit = TlsfHeap::kUnit;
    // The image stands on a page everywhere, and on nothing more.
    static constexpr std::size_t kMaxAlignment = kStatePageBytes;

    struct Stats {
        TlsfHeap::Stats heap;
        std::uint64_t free_bytes = 0;
        // Taken by the heap for itself.
        std::uint64_t control_bytes = 0;
        std::uint32_t roots = 0;
    };

    // Makes an empty heap of the whole segment. Fails with not_found, address_in_use when a heap lies there
    // already (see ImageHeapOptions::replaces), and out_of_range when the segment is too small for a heap.
    // The segment may have any kind of tracking.
    [[nodiscard]] static Expected<ImageHeap> create(const StateRing& ring, std::string_view segment,
                                                    const ImageHeapOptions& options = {}) noexcept;
    // The heap that lies in the segment, after verifying all of it: in an image that was loaded. A handle
    // that was there before a rollback need not be attached again, unless the heap was made after that tick.
    // Fails with not_found and corrupt_data.
    [[nodiscard]] static Expected<ImageHeap> attach(const StateRing& ring, std::string_view segment) noexcept;

    // Takes the heap away with all that is in it, so that another can be made there. Handles to it answer as
    // they do before the tick in which it was made.
    void discard() noexcept;

    // Memory of zeros. Fails with zero_size, bad_alignment (beyond kMaxAlignment too), size_overflow (more
    // than any address) and capacity_exhausted.
    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment = kUnit) noexcept;
    // Requires: a block of this heap with a size from what was asked to what was given, or null.
    void deallocate(MemoryBlock block) noexcept;
    // What is added behind the block's size is zero. As allocate fails; then the block is as it was.
    [[nodiscard]] Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment = kUnit) noexcept;

    // The same with whatever lies in the new memory: for those who write it before they read it. Nothing is
    // declared but what the heap itself writes.
    [[nodiscard]] Expected<MemoryBlock> allocate_unclear(std::size_t size, std::size_t alignment) noexcept;
    [[nodiscard]] Expected<MemoryBlock> reallocate_unclear(MemoryBlock block, std::size_t new_size,
                                                           std::size_t alignment) noexcept;

    // One value, all zero. Fails as allocate does.
    template <class T>
    [[nodiscard]] Expected<OffsetPtr<T>> make() noexcept {
        static_assert(require_sim_value<T>());
        const auto block = allocate(sizeof(T), alignof(T));
        if (!block) return block.status();
        return OffsetPtr<T>::from_offset(offset_of(block->data));
    }
    // Requires: made here, or null.
    template <class T>
    void destroy(OffsetPtr<T> value) noexcept {
        if (value) deallocate({reinterpret_cast<std::byte*>(value.in(base_)), sizeof(T)});
    }

    // Requires: not null.
    template <class T>
    [[nodiscard]] const T& get(OffsetPtr<T> value) const noexcept {
        OURO_ASSERT(value, "null points to nothing");
        return *value.in(base_);
    }
    // What is read is const, and becomes writable by being declared. Requires: lies in the image.
    template <class T>
    [[nodiscard]] T& edit(const T& value) noexcept {
        mark(&value, sizeof(T));
        return const_cast<T&>(value);
    }
    template <class T>
    [[nodiscard]] T& edit(OffsetPtr<T> value) noexcept {
        return edit(get(value));
    }
    // The operations of a simulation type that is stored in the image: SimVec, SimString, SimMap, SimSet or
    // SimPool. Good as long as the stored value stays where it is, and this handle.
    template <class Stored>
    [[nodiscard]] typename Stored::Bound bind(const Stored& stored) noexcept {
        OURO_ASSERT(contains(&stored, sizeof(Stored)), "what is bound lies in the image");
        return typename Stored::Bound(*this, const_cast<Stored&>(stored));
    }

    // Values that a program finds again by name, after loading an image too. Makes one of zeros. Fails with
    // bad_argument (a name that is empty, too long or taken), capacity_exhausted (all roots are taken, or the
    // heap is full).
    template <class T>
    [[nodiscard]] Expected<OffsetPtr<T>> make_root(std::string_view name) noexcept {
        static_assert(require_sim_value<T>());
        const auto offset = make_root_bytes(name, sizeof(T), alignof(T));
        if (!offset) return offset.status();
        return OffsetPtr<T>::from_offset(*offset);
    }
    // Fails with not_found, and bad_argument when it is of another size or stands where no T can.
    template <class T>
    [[nodiscard]] Expected<OffsetPtr<T>> root(std::string_view name) const noexcept {
        const auto offset = root_bytes(name, sizeof(T), alignof(T));
        if (!offset) return offset.status();
        return OffsetPtr<T>::from_offset(*offset);
    }
    // Frees the value and its name; not_found.
    Expected<void> remove_root(std::string_view name) noexcept;

    [[nodiscard]] OffsetBase base() const noexcept { return base_; }
    [[nodiscard]] MemoryBlock segment() const noexcept { return segment_; }
    [[nodiscard]] std::uint32_t offset_of(const void* address) const noexcept {
        return static_cast<std::uint32_t>(static_cast<const std::byte*>(address) - base_.start());
    }
    [[nodiscard]] bool contains(const void* address, std::size_t bytes) const noexcept {
        const auto offset =
            reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_.start());
        return offset < base_.size() && bytes <= base_.size() - offset;
    }
    // Whether a block of this heap can be there: for numbers that came from a file. Not whether it is in use.
    [[nodiscard]] bool can_have(std::uint32_t offset, std::uint64_t bytes) const noexcept;
    // Requires: the bytes are in the image (debug assert).
    void mark(const void* address, std::size_t bytes) noexcept {
        [[maybe_unused]] const Status status = marks_.mark(address, bytes);
        OURO_DEBUG_ASSERT(status == Status::ok, "what is marked lies in the image");
    }

    // Who has a byte of the image, as far as a heap in that segment knows: unknown when there is none, or
    // when it is damaged. Walks over its free memory.
    [[nodiscard]] static ImageOwner owner_at(const StateRing& ring, std::string_view segment,
                                             std::uint64_t offset) noexcept;

    [[nodiscard]] Stats stats() const noexcept;
    // Walks the heap and the roots: ok, or corrupt_data.
    [[nodiscard]] Status check() const noexcept;

private:
    ImageHeap(const StateRing& ring, MemoryBlock segment, std::uint64_t notes_bytes) noexcept
        : base_(ring.base()),
          segment_(segment),
          marks_(ring.marks()),
          front_bytes_(sizeof(ImageHeapHeader) + static_cast<std::size_t>(notes_bytes)) {}

    [[nodiscard]] ImageHeapHeader& header() const noexcept {
        return *reinterpret_cast<ImageHeapHeader*>(segment_.data);
    }
    [[nodiscard]] MemoryBlock heap_block() const noexcept {
        return segment_.sub(front_bytes_, segment_.size - front_bytes_);
    }
    [[nodiscard]] TlsfHeap& heap() const noexcept {
        return *reinterpret_cast<TlsfHeap*>(segment_.data + front_bytes_);
    }
    // Segments are whole kSegmentAlignment.
    [[nodiscard]] static constexpr std::uint64_t notes_bytes_of(std::uint64_t segment_bytes) noexcept {
        return segment_bytes / kUnit / 8;
    }
    [[nodiscard]] bool has_notes() const noexcept { return front_bytes_ != sizeof(ImageHeapHeader); }
    [[nodiscard]] std::span<std::uint64_t> notes() const noexcept {
        return {reinterpret_cast<std::uint64_t*>(segment_.data + sizeof(ImageHeapHeader)),
                (front_bytes_ - sizeof(ImageHeapHeader)) / sizeof(std::uint64_t)};
    }
    [[nodiscard]] static ImageHeap seen_in(const StateRing& ring, MemoryBlock segment) noexcept;
    void note_block(const std::byte* begin, bool is_there) noexcept;
    [[nodiscard]] MemoryBlock noted_block(const std::byte* address, MemoryBlock within) const noexcept;
    [[nodiscard]] const ImageHeapHeader::Root* root_at(std::uint64_t offset) const noexcept;
    [[nodiscard]] ImageHeapHeader::Root* find_root(std::string_view name) const noexcept;
    [[nodiscard]] Expected<std::uint32_t> make_root_bytes(std::string_view name, std::size_t bytes,
                                                          std::size_t alignment) noexcept;
    [[nodiscard]] Expected<std::uint32_t> root_bytes(std::string_view name, std::size_t bytes,
                                                     std::size_t alignment) const noexcept;
    [[nodiscard]] MemoryBlock block_of(const ImageHeapHeader::Root& root) const noexcept {
        return {base_.start() + root.offset, root.bytes};
    }
    [[nodiscard]] bool has_sound_header() const noexcept;
    [[nodiscard]] bool has_sound_roots() const noexcept;
    [[nodiscard]] bool are_notes_sound() const noexcept;

    OffsetBase base_;
    MemoryBlock segment_;
    DirtyMap marks_;
    // Of the header and the notes.
    std::size_t front_bytes_;
};

static_assert(std::is_trivially_copyable_v<ImageHeap>);

}  // namespace ouro
