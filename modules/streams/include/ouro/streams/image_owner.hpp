#pragma once

#include <ouro/base/fixed_string.hpp>
#include <ouro/base/offset_ptr.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

class StateRing;

enum class OwnerKind : std::uint8_t {
    unknown,
    // By VerifyOptions::owner_of.
    named,
    // The first page of the image.
    image_header,
    // What a heap keeps of itself: its roots, lists and marks.
    heap_records,
    // Of a heap, and nobody's: who writes there uses what was freed.
    free_memory,
    // One block or several side by side; see ImageHeapOptions::notes_blocks.
    heap_memory,
    heap_block,
    root,
    // A place of a SimPool with and without an object, and an element of a SimVec; see OwnerSource.
    pool_object,
    pool_place,
    element,
    // The copy of memory outside the image; see StateRing::keep_outside.
    outside,
    // Of a SimMap or SimSet: an entry, one that is removed or not used yet, and what finds them by their
    // hash.
    entry,
    entry_place,
    table_index,
    // The characters of a SimString.
    text,
    // What a SegmentOwnerFunction says in words: a value of the simulation, and what else there is beside the
    // values.
    value,
    record,
};

[[nodiscard]] std::string_view owner_kind_name(OwnerKind kind) noexcept;

// Who has a byte of an image.
struct ImageOwner {
    using Name = FixedString<31>;
    using Words = FixedString<159>;

    OwnerKind kind = OwnerKind::unknown;
    // Of the root, the container or what is outside, cut where it is long; empty when it has none.
    Name name{};
    // What it has, in the image; no bytes when that is not known.
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    // Of an object, element or entry in its container; entries in the order of adding, removed ones included.
    // Of a value of a World, the bits of its entity; zero: a resource.
    std::uint64_t number = 0;
    // Of what is outside.
    const void* address = nullptr;
    // Of a value or a record, what it is, cut where it is long: "entity 17:1 ('ada') Position.y".
    Words words{};

    [[nodiscard]] static Name name_of(std::string_view text) noexcept {
        return Name::from({text.data(), std::min(text.size(), Name::capacity())}).value_or(Name());
    }
};

// A container that tells which of its objects has a byte; see owner_source() of the simulation types. Good as
// long as what it was made from lies where it is; it reads what the container has at the time.
struct OwnerSource {
    using FindFunction = bool (*)(const void* context, ConstOffsetBase base, std::uint64_t offset,
                                  ImageOwner& owner);

    std::string_view name;
    const void* context = nullptr;
    // Fills in what it knows and returns true when the byte is in the container.
    FindFunction find = nullptr;
};

// Tells who has a byte of a segment, and nothing else than what the bytes of the image say, so that it is
// never out of date: see StateRing::tell_owners. True when it knows; it fills in what the byte belongs to,
// the name included.
using SegmentOwnerFunction = bool (*)(std::string_view segment, ConstOffsetBase base, std::uint64_t offset,
                                      ImageOwner& owner);

// Who has the byte at an offset of the image: what one of the sources says, or what can be seen in the image
// and in the ring: worlds, heaps, their roots and free memory, copies of what lies outside. For reports; it
// takes a while. On the thread that commits.
[[nodiscard]] ImageOwner find_owner(const StateRing& ring, std::uint64_t offset,
                                    std::span<const OwnerSource> sources = {}) noexcept;

// What a sentence says of the byte at that offset: "byte 8 of root 'town' (112 bytes)", "world 'level':
// entity 17:1 ('ada') Position.y, byte 1 of 4". Cut where the text is full, with a zero at the end. Returns
// what was written, without the zero.
std::string_view describe_owner(const ImageOwner& owner, std::uint64_t offset, std::span<char> text) noexcept;

}  // namespace ouro
