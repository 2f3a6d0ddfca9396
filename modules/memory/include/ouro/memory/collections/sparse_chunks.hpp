#pragma once

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro {

// What a CompressedSparseArray holds and has done.
struct SparseArrayStats {
    std::size_t elements = 0;
    std::size_t chunks = 0;
    // Chunks with their values unpacked, and the bytes of those values.
    std::size_t raw_chunks = 0;
    std::size_t raw_bytes = 0;
    // Bytes of packed values, and what the same values take unpacked.
    std::size_t packed_bytes = 0;
    std::size_t packed_value_bytes = 0;
    // The directory, the records of chunks with their occupancy bits, and working space.
    std::size_t index_bytes = 0;
    // Accesses that found the chunk unpacked, and that had to unpack it.
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t packings = 0;
};

// One run of neighbouring indices. Its occupancy bits lie right behind it.
struct SparseChunk {
    // The values, at their places; null while the chunk is packed.
    std::byte* raw = nullptr;
    // The packed values; null when the raw ones have changed since.
    std::byte* packed = nullptr;
    std::uint32_t packed_bytes = 0;
    std::uint32_t number = 0;
    std::uint32_t count = 0;
    // Where it stands among the raw chunks.
    std::uint32_t raw_position = 0;
    // Since the clock's hand came by.
    bool used_lately = false;

    [[nodiscard]] std::uint64_t* occupancy() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
    [[nodiscard]] const std::uint64_t* occupancy() const noexcept {
        return reinterpret_cast<const std::uint64_t*>(this + 1);
    }
    [[nodiscard]] bool has(std::size_t place) const noexcept {
        return (occupancy()[place / 64] >> (place % 64) & 1) != 0;
    }
};

// The part of a CompressedSparseArray that does not depend on the element's type: the directory of chunks,
// packing and unpacking, and the clock that chooses what to pack.
class SparseChunks {
public:
    struct Shape {
        std::size_t value_bytes = 0;
        std::size_t value_alignment = 0;
        // A power of two from 64 on.
        std::size_t chunk_values = 0;
        std::size_t max_raw_chunks = 0;
    };

    [[nodiscard]] static Expected<SparseChunks> create(Allocator allocator, const Shape& shape) noexcept;
    SparseChunks(SparseChunks&& other) noexcept;
    SparseChunks& operator=(SparseChunks&& other) noexcept;
    ~SparseChunks();

    // The chunk of that number, or null.
    [[nodiscard]] SparseChunk* find(std::uint32_t number) const noexcept {
        if (number == last_number_ && last_ != nullptr) return last_;
        const std::size_t page = number / kPageChunks;
        if (page >= pages_.size() || pages_[page].chunks == nullptr) return nullptr;
        return pages_[page].chunks[number % kPageChunks];
    }

    // Sees to it that the chunk's values can be read at their places, and counts the access.
    [[nodiscard]] Status make_raw(SparseChunk& chunk) noexcept {
        chunk.used_lately = true;
        last_ = &chunk;
        last_number_ = chunk.number;
        if (chunk.raw != nullptr) [[likely]] {
            ++stats_.hits;
            return Status::ok;
        }
        return unpack_chunk(chunk);
    }
    // Before a value of a raw chunk changes.
    void forget_packed(SparseChunk& chunk) noexcept {
        if (chunk.packed != nullptr) drop_packed(chunk);
    }

    // A new chunk without elements, raw. Requires: there is none of that number.
    [[nodiscard]] Expected<SparseChunk*> add(std::uint32_t number) noexcept;
    void remove(SparseChunk& chunk) noexcept;
    void remove_all() noexcept;
    void count_elements(std::ptrdiff_t change) noexcept {
        stats_.elements = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(stats_.elements) + change);
    }

    // The first chunk of at least that number, or null.
    [[nodiscard]] SparseChunk* first_from(std::uint32_t number) const noexcept;
    // The values of the elements one behind the other, in the working space until the next call.
    [[nodiscard]] Expected<const std::byte*> dense_values(const SparseChunk& chunk) noexcept;

    // Packs the raw chunks that were not used since the last call, or all; returns how many. Those packed
    // before a failure stay packed.
    [[nodiscard]] Expected<std::size_t> pack_unused(bool all) noexcept;

    [[nodiscard]] SparseArrayStats stats() const noexcept { return stats_; }
    [[nodiscard]] std::size_t max_raw_chunks() const noexcept { return shape_.max_raw_chunks; }
    [[nodiscard]] Status check() noexcept;

private:
    static constexpr std::size_t kPageChunks = 512;
    static constexpr std::size_t kPageBytes = kPageChunks * sizeof(SparseChunk*);
    // Chunks by number; without memory where none of them exists.
    struct Page {
        SparseChunk** chunks = nullptr;
        std::size_t used = 0;
    };

    SparseChunks(Allocator allocator, const Shape& shape) noexcept;
    [[nodiscard]] Status prepare() noexcept;

    [[nodiscard]] std::size_t raw_chunk_bytes() const noexcept {
        return shape_.chunk_values * shape_.value_bytes;
    }
    [[nodiscard]] std::size_t record_bytes() const noexcept {
        return sizeof(SparseChunk) + shape_.chunk_values / 8;
    }
    [[nodiscard]] std::size_t working_bytes() const noexcept;
    [[nodiscard]] std::span<std::byte> dense_space(std::size_t count) const noexcept {
        return {working_.data, count * shape_.value_bytes};
    }

    [[nodiscard]] Expected<Page*> page_for(std::uint32_t number) noexcept;
    void drop_empty_page(std::size_t index) noexcept;
    [[nodiscard]] Expected<std::byte*> take_raw_space() noexcept;
    [[nodiscard]] Expected<std::byte*> evict_one() noexcept;
    void give_raw_space(std::byte* raw) noexcept;
    [[nodiscard]] Status unpack_chunk(SparseChunk& chunk) noexcept;
    [[nodiscard]] Status pack_chunk(SparseChunk& chunk) noexcept;
    // Takes the raw values away. Requires: the chunk is packed, or goes.
    [[nodiscard]] std::byte* detach_raw(SparseChunk& chunk) noexcept;
    void attach_raw(SparseChunk& chunk, std::byte* raw) noexcept;
    void drop_packed(SparseChunk& chunk) noexcept;
    void gather(const SparseChunk& chunk, std::byte* dense) const noexcept;
    void scatter(SparseChunk& chunk, const std::byte* dense) const noexcept;
    [[nodiscard]] Status check_chunk(const SparseChunk& chunk) noexcept;

    Allocator allocator_;
    Shape shape_;
    PooledVector<Page> pages_;
    PooledVector<SparseChunk*> raw_chunks_;
    // The clock's hand among the raw chunks.
    std::size_t hand_ = 0;
    // Raw space that no chunk uses, kept for the next.
    std::byte* spare_ = nullptr;
    // Dense values, then packed ones: nothing else is needed to pack, so that packing for want of memory does
    // not want memory.
    MemoryBlock working_;
    SparseArrayStats stats_;
    SparseChunk* last_ = nullptr;
    std::uint32_t last_number_ = 0;
};

}  // namespace ouro
