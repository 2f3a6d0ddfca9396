#pragma once

#include <ouro/base/bits.hpp>
#include <ouro/memory/allocator.hpp>
#include <ouro/memory/collections/sparse_chunks.hpp>
#include <ouro/memory/collections/sparse_entry_iterator.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

namespace ouro {

// Values at any of 2^32 indices, for data that is large and mostly left alone: cold components, tiles of a
// world, biographies. Indices are grouped into chunks; at most so many are unpacked at a time, the others are
// packed (see word_packing.hpp) and come back when touched. Which chunk is packed next is chosen by a clock;
// compress_cold() packs what was not used for a while, e.g. once a second.
//
//     auto biographies = CompressedSparseArray<Biography>::create(allocator, {.max_raw_chunks = 64});
//     biographies->set(creature, biography);
//     const auto found = biographies->get(creature);       // Expected<Biography>
//     for (const auto [creature, biography] : *biographies) ...  // lowest index first
//
// Whether an index is occupied is known without unpacking. One thread at a time, for reading too. Padding
// inside T is kept as it is; values without padding give the same packed bytes everywhere.
template <class T, std::size_t ChunkValues = 1024>
class CompressedSparseArray {
    static_assert(std::is_trivially_copyable_v<T>, "values are packed as bytes");
    static_assert(std::has_single_bit(ChunkValues) && ChunkValues >= 64 && ChunkValues <= 65536,
                  "chunks hold a power of two from 64 to 65536");
    static_assert(sizeof(T) * ChunkValues <= (std::size_t{1} << 30), "a chunk is at most 1 GiB");

public:
    struct Options {
        // Chunks unpacked at a time; at least one.
        std::size_t max_raw_chunks = 64;
    };

    // Gives the occupied indices, lowest first, without unpacking. Valid until elements come or go.
    class IndexIterator {
    public:
        using value_type = std::uint32_t;
        using difference_type = std::ptrdiff_t;
        using reference = std::uint32_t;
        using pointer = void;
        using iterator_category = std::input_iterator_tag;
        using iterator_concept = std::forward_iterator_tag;

        IndexIterator() noexcept = default;
        [[nodiscard]] std::uint32_t operator*() const noexcept { return static_cast<std::uint32_t>(index_); }
        IndexIterator& operator++() noexcept {
            index_ = array_->next_or_end(index_ + 1);
            return *this;
        }
        IndexIterator operator++(int) noexcept {
            const IndexIterator before = *this;
            ++*this;
            return before;
        }
        [[nodiscard]] friend bool operator==(const IndexIterator& one, const IndexIterator& other) noexcept {
            return one.index_ == other.index_;
        }

    private:
        friend CompressedSparseArray;
        IndexIterator(const CompressedSparseArray* array, std::uint64_t index) noexcept
            : array_(array), index_(index) {}

        const CompressedSparseArray* array_ = nullptr;
        std::uint64_t index_ = kEnd;
    };

    struct Indices {
        const CompressedSparseArray* array;
        [[nodiscard]] IndexIterator begin() const noexcept { return {array, array->next_or_end(0)}; }
        [[nodiscard]] IndexIterator end() const noexcept { return {array, kEnd}; }
    };

    // Fails with bad_argument when no chunk may be unpacked, or as the allocator does.
    [[nodiscard]] static Expected<CompressedSparseArray> create(Allocator allocator,
                                                                const Options& options) noexcept {
        auto chunks = SparseChunks::create(allocator, {.value_bytes = sizeof(T),
                                                       .value_alignment = alignof(T),
                                                       .chunk_values = ChunkValues,
                                                       .max_raw_chunks = options.max_raw_chunks});
        if (!chunks) return chunks.status();
        return CompressedSparseArray(*std::move(chunks));
    }
    [[nodiscard]] static Expected<CompressedSparseArray> create(Allocator allocator) noexcept {
        return create(allocator, Options{});
    }

    // The value, or not_found; what the allocator fails with where the chunk must be unpacked, or
    // corrupt_data.
    [[nodiscard]] Expected<T> get(std::uint32_t index) noexcept {
        SparseChunk* const chunk = chunks_.find(index / ChunkValues);
        if (chunk == nullptr || !chunk->has(index % ChunkValues)) return Status::not_found;
        const Status ready = chunks_.make_raw(*chunk);
        if (ready != Status::ok) return ready;
        return values_of(*chunk)[index % ChunkValues];
    }

    // Adds or replaces. Fails as the allocator does, or with corrupt_data, and changes nothing then.
    [[nodiscard]] Status set(std::uint32_t index, const T& value) noexcept {
        // The value may lie in a chunk that is packed meanwhile.
        const T copy = value;
        SparseChunk* chunk = chunks_.find(index / ChunkValues);
        if (chunk != nullptr) {
            const Status ready = chunks_.make_raw(*chunk);
            if (ready != Status::ok) return ready;
        } else {
            const auto added = chunks_.add(index / ChunkValues);
            if (!added) return added.status();
            chunk = *added;
        }
        const std::size_t place = index % ChunkValues;
        chunks_.forget_packed(*chunk);
        if (!chunk->has(place)) {
            chunk->occupancy()[place / 64] |= std::uint64_t{1} << (place % 64);
            ++chunk->count;
            chunks_.count_elements(1);
        }
        std::memcpy(chunk->raw + place * sizeof(T), &copy, sizeof(T));
        return Status::ok;
    }

    // ok, not_found, or as get.
    [[nodiscard]] Status erase(std::uint32_t index) noexcept {
        SparseChunk* const chunk = chunks_.find(index / ChunkValues);
        const std::size_t place = index % ChunkValues;
        if (chunk == nullptr || !chunk->has(place)) return Status::not_found;
        if (chunk->count == 1) {
            chunks_.remove(*chunk);
            return Status::ok;
        }
        const Status ready = chunks_.make_raw(*chunk);
        if (ready != Status::ok) return ready;
        chunks_.forget_packed(*chunk);
        chunk->occupancy()[place / 64] &= ~(std::uint64_t{1} << (place % 64));
        --chunk->count;
        chunks_.count_elements(-1);
        return Status::ok;
    }

    [[nodiscard]] bool contains(std::uint32_t index) const noexcept {
        const SparseChunk* const chunk = chunks_.find(index / ChunkValues);
        return chunk != nullptr && chunk->has(index % ChunkValues);
    }
    // The first occupied index from there on, or not_found.
    [[nodiscard]] Expected<std::uint32_t> next_index(std::uint32_t from) const noexcept {
        const std::uint64_t found = next_or_end(from);
        if (found == kEnd) return Status::not_found;
        return static_cast<std::uint32_t>(found);
    }
    // A range of the occupied indices.
    [[nodiscard]] Indices indices() const noexcept { return {this}; }

    // The elements with their values, lowest index first; what invalidates is said at the iterator. Reading
    // uses the unpacked chunks as get() does, so there is no walk over an array that is const; for_each()
    // leaves them as they are, and is quicker. A walk ends early at a chunk that cannot be unpacked:
    // walk_status() says so.
    using Iterator = SparseEntryIterator<CompressedSparseArray, T, false>;
    using WritableIterator = SparseEntryIterator<CompressedSparseArray, T, true>;
    struct Writable {
        CompressedSparseArray* array;
        [[nodiscard]] WritableIterator begin() const noexcept {
            array->walk_status_ = Status::ok;
            return WritableIterator(*array);
        }
        [[nodiscard]] WritableIterator end() const noexcept { return {}; }
    };
    [[nodiscard]] Iterator begin() noexcept {
        walk_status_ = Status::ok;
        return Iterator(*this);
    }
    [[nodiscard]] Iterator end() noexcept { return {}; }
    // The same with values that can be written: `for (auto [index, value] : array.writable()) ++value;`.
    // Every chunk that it meets counts as changed.
    [[nodiscard]] Writable writable() noexcept { return {this}; }
    // Whether the last walk came to the end: ok, or what get() would have failed with where it did not.
    [[nodiscard]] Status walk_status() const noexcept { return walk_status_; }

    // Calls visit(index, const T&) for all elements, lowest index first. Packed chunks are read aside and
    // disturb no other. The visitor does not use the array. Fails with corrupt_data.
    template <class Visit>
    [[nodiscard]] Status for_each(Visit&& visit) noexcept {
        for (SparseChunk* chunk = chunks_.first_from(0); chunk != nullptr;) {
            const auto dense = chunks_.dense_values(*chunk);
            if (!dense) return dense.status();
            const std::byte* bytes = *dense;
            for_each_place(*chunk, [&](std::uint32_t place) {
                // A place of its own, since the dense values need not be aligned.
                alignas(T) std::byte value[sizeof(T)];
                std::memcpy(value, bytes, sizeof(T));
                bytes += sizeof(T);
                visit(static_cast<std::uint32_t>(chunk->number * ChunkValues + place),
                      *std::launder(reinterpret_cast<const T*>(value)));
            });
            if (chunk->number == kLastChunk) break;
            chunk = chunks_.first_from(chunk->number + 1);
        }
        return Status::ok;
    }

    // Packs the chunks not used since the last call; returns how many. Stops at the first failure, as the
    // allocator's; nothing is lost then.
    [[nodiscard]] Expected<std::size_t> compress_cold() noexcept { return chunks_.pack_unused(false); }
    [[nodiscard]] Expected<std::size_t> compress_all() noexcept { return chunks_.pack_unused(true); }

    void clear() noexcept { chunks_.remove_all(); }
    [[nodiscard]] std::size_t size() const noexcept { return chunks_.stats().elements; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] SparseArrayStats stats() const noexcept { return chunks_.stats(); }
    // Unpacks every chunk aside and verifies counts and lists: ok or corrupt_data.
    [[nodiscard]] Status check() noexcept { return chunks_.check(); }

private:
    static constexpr std::uint64_t kEnd = std::uint64_t{1} << 32;
    static constexpr std::uint32_t kLastChunk = static_cast<std::uint32_t>((kEnd - 1) / ChunkValues);

    friend Iterator;
    friend WritableIterator;

    explicit CompressedSparseArray(SparseChunks chunks) noexcept : chunks_(std::move(chunks)) {}

    // An element's value where it lies unpacked; null when it cannot be. Requires: it is there.
    [[nodiscard]] T* place_for_walk(std::uint32_t index, bool writes) noexcept {
        SparseChunk& chunk = *chunks_.find(index / ChunkValues);
        const Status ready = chunks_.make_raw(chunk);
        if (ready != Status::ok) {
            walk_status_ = ready;
            return nullptr;
        }
        if (writes) chunks_.forget_packed(chunk);
        return values_of(chunk) + index % ChunkValues;
    }

    [[nodiscard]] static T* values_of(SparseChunk& chunk) noexcept { return reinterpret_cast<T*>(chunk.raw); }
    template <class Visit>
    static void for_each_place(const SparseChunk& chunk, Visit visit) noexcept {
        for (std::uint32_t word = 0; word < ChunkValues / 64; ++word)
            for_each_bit(chunk.occupancy()[word], [&](unsigned bit) { visit(word * 64 + bit); });
    }
    [[nodiscard]] std::uint64_t next_or_end(std::uint64_t from) const noexcept {
        std::size_t place = from % ChunkValues;
        for (std::uint64_t number = from / ChunkValues; number <= kLastChunk; place = 0) {
            const SparseChunk* const chunk = chunks_.first_from(static_cast<std::uint32_t>(number));
            if (chunk == nullptr) return kEnd;
            if (chunk->number != number) place = 0;
            const std::size_t found = find_set_bit({chunk->occupancy(), ChunkValues / 64}, place);
            if (found < ChunkValues) return std::uint64_t{chunk->number} * ChunkValues + found;
            number = std::uint64_t{chunk->number} + 1;
        }
        return kEnd;
    }

    SparseChunks chunks_;
    Status walk_status_ = Status::ok;
};

}  // namespace ouro
