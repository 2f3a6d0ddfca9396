#include <ouro/base/bits.hpp>
#include <ouro/memory/collections/bit_operations.hpp>
#include <ouro/memory/collections/sparse_chunks.hpp>
#include <ouro/memory/collections/word_packing.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace ouro {

namespace {

constexpr std::size_t kRecordAlignment = alignof(std::uint64_t);
// Packed bytes are read one by one.
constexpr std::size_t kPackedAlignment = 1;

// Calls use(bytes) with a constant for the usual sizes, where a copy becomes a few instructions.
template <class Use>
void with_value_bytes(std::size_t bytes, Use use) noexcept {
    switch (bytes) {
        case 1:
            return use(std::integral_constant<std::size_t, 1>{});
        case 2:
            return use(std::integral_constant<std::size_t, 2>{});
        case 4:
            return use(std::integral_constant<std::size_t, 4>{});
        case 8:
            return use(std::integral_constant<std::size_t, 8>{});
        case 12:
            return use(std::integral_constant<std::size_t, 12>{});
        case 16:
            return use(std::integral_constant<std::size_t, 16>{});
        case 32:
            return use(std::integral_constant<std::size_t, 32>{});
        default:
            return use(bytes);
    }
}

// Calls copy(offset, length) in bytes for all elements: 64 at once where all are there, else one by one.
template <class Bytes, class Copy>
void for_each_run(const std::uint64_t* occupancy, std::size_t values, Bytes bytes, Copy copy) noexcept {
    for (std::size_t word = 0; word < values / 64; ++word) {
        const std::size_t offset = word * 64 * bytes;
        if (occupancy[word] == ~std::uint64_t{0}) {
            copy(offset, 64 * std::size_t{bytes});
        } else {
            for_each_bit(occupancy[word], [&](unsigned bit) { copy(offset + bit * bytes, bytes); });
        }
    }
}

}  // namespace

SparseChunks::SparseChunks(Allocator allocator, const Shape& shape) noexcept
    : allocator_(allocator), shape_(shape), pages_(allocator), raw_chunks_(allocator) {}

Expected<SparseChunks> SparseChunks::create(Allocator allocator, const Shape& shape) noexcept {
    if (shape.max_raw_chunks == 0) return Status::bad_argument;
    SparseChunks chunks(allocator, shape);
    const Status ready = chunks.prepare();
    if (ready != Status::ok) return ready;
    return chunks;
}

Status SparseChunks::prepare() noexcept {
    const Status listed = raw_chunks_.reserve(shape_.max_raw_chunks);
    if (listed != Status::ok) return listed;
    const auto block = allocator_.allocate(working_bytes(), kDefaultAlignment);
    if (!block) return block.status();
    working_ = *block;
    stats_.index_bytes = working_.size + raw_chunks_.capacity() * sizeof(SparseChunk*);
    return Status::ok;
}

std::size_t SparseChunks::working_bytes() const noexcept {
    return raw_chunk_bytes() + packed_bound(raw_chunk_bytes());
}

SparseChunks::SparseChunks(SparseChunks&& other) noexcept
    : allocator_(other.allocator_),
      shape_(other.shape_),
      pages_(std::move(other.pages_)),
      raw_chunks_(std::move(other.raw_chunks_)),
      hand_(std::exchange(other.hand_, 0)),
      spare_(std::exchange(other.spare_, nullptr)),
      working_(std::exchange(other.working_, {})),
      stats_(std::exchange(other.stats_, {})),
      last_(std::exchange(other.last_, nullptr)),
      last_number_(other.last_number_) {}

SparseChunks& SparseChunks::operator=(SparseChunks&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

SparseChunks::~SparseChunks() {
    remove_all();
    allocator_.deallocate(working_, kDefaultAlignment);
}

Expected<SparseChunks::Page*> SparseChunks::page_for(std::uint32_t number) noexcept {
    const std::size_t index = number / kPageChunks;
    if (index >= pages_.size()) {
        const std::size_t before = pages_.capacity();
        const Status grown = pages_.resize(index + 1);
        if (grown != Status::ok) return grown;
        stats_.index_bytes += (pages_.capacity() - before) * sizeof(Page);
    }
    Page& page = pages_[index];
    if (page.chunks != nullptr) return &page;
    const auto block = allocator_.allocate(kPageBytes, alignof(SparseChunk*));
    if (!block) return block.status();
    page.chunks = reinterpret_cast<SparseChunk**>(block->data);
    std::fill_n(page.chunks, kPageChunks, nullptr);
    stats_.index_bytes += kPageBytes;
    return &page;
}

void SparseChunks::drop_empty_page(std::size_t index) noexcept {
    Page& page = pages_[index];
    if (page.used != 0) return;
    allocator_.deallocate({reinterpret_cast<std::byte*>(page.chunks), kPageBytes}, alignof(SparseChunk*));
    page.chunks = nullptr;
    stats_.index_bytes -= kPageBytes;
}

Expected<SparseChunk*> SparseChunks::add(std::uint32_t number) noexcept {
    const auto page = page_for(number);
    if (!page) return page.status();
    const auto record = allocator_.allocate(record_bytes(), kRecordAlignment);
    if (!record) {
        drop_empty_page(number / kPageChunks);
        return record.status();
    }
    const auto raw = take_raw_space();
    if (!raw) {
        allocator_.deallocate({record->data, record_bytes()}, kRecordAlignment);
        drop_empty_page(number / kPageChunks);
        return raw.status();
    }
    auto* const chunk = new (record->data) SparseChunk{.number = number};
    std::memset(chunk->occupancy(), 0, shape_.chunk_values / 8);
    attach_raw(*chunk, *raw);
    (*page)->chunks[number % kPageChunks] = chunk;
    ++(*page)->used;
    ++stats_.chunks;
    stats_.index_bytes += record_bytes();
    return chunk;
}

void SparseChunks::remove(SparseChunk& chunk) noexcept {
    if (last_ == &chunk) last_ = nullptr;
    if (chunk.raw != nullptr) give_raw_space(detach_raw(chunk));
    if (chunk.packed != nullptr) drop_packed(chunk);
    stats_.elements -= chunk.count;
    --stats_.chunks;
    stats_.index_bytes -= record_bytes();
    const std::uint32_t number = chunk.number;
    Page& page = pages_[number / kPageChunks];
    page.chunks[number % kPageChunks] = nullptr;
    --page.used;
    allocator_.deallocate({reinterpret_cast<std::byte*>(&chunk), record_bytes()}, kRecordAlignment);
    drop_empty_page(number / kPageChunks);
}

void SparseChunks::remove_all() noexcept {
    for (SparseChunk* chunk = first_from(0); chunk != nullptr;) {
        const std::uint32_t number = chunk->number;
        remove(*chunk);
        chunk = first_from(number);
    }
    if (spare_ != nullptr) allocator_.deallocate({spare_, raw_chunk_bytes()}, shape_.value_alignment);
    spare_ = nullptr;
    stats_.index_bytes -= pages_.capacity() * sizeof(Page);
    pages_.release();
}

SparseChunk* SparseChunks::first_from(std::uint32_t number) const noexcept {
    std::size_t place = number % kPageChunks;
    for (std::size_t index = number / kPageChunks; index < pages_.size(); ++index, place = 0) {
        if (pages_[index].chunks == nullptr) continue;
        for (; place < kPageChunks; ++place)
            if (pages_[index].chunks[place] != nullptr) return pages_[index].chunks[place];
    }
    return nullptr;
}

void SparseChunks::attach_raw(SparseChunk& chunk, std::byte* raw) noexcept {
    chunk.raw = raw;
    chunk.raw_position = static_cast<std::uint32_t>(raw_chunks_.size());
    chunk.used_lately = true;
    // Room was reserved at creation for as many as there may be.
    const auto listed = raw_chunks_.push_back(&chunk);
    OURO_ASSERT(listed.has_value(), "more chunks are raw than may be");
    ++stats_.raw_chunks;
    stats_.raw_bytes += raw_chunk_bytes();
}

std::byte* SparseChunks::detach_raw(SparseChunk& chunk) noexcept {
    raw_chunks_.back()->raw_position = chunk.raw_position;
    raw_chunks_.swap_remove(chunk.raw_position);
    --stats_.raw_chunks;
    stats_.raw_bytes -= raw_chunk_bytes();
    return std::exchange(chunk.raw, nullptr);
}

void SparseChunks::give_raw_space(std::byte* raw) noexcept {
    if (spare_ == nullptr) {
        spare_ = raw;
    } else {
        allocator_.deallocate({raw, raw_chunk_bytes()}, shape_.value_alignment);
    }
}

// When the allocator has nothing, a chunk that is raw gives its place, as when the most allowed are raw.
Expected<std::byte*> SparseChunks::take_raw_space() noexcept {
    if (raw_chunks_.size() == shape_.max_raw_chunks) return evict_one();
    if (spare_ != nullptr) return std::exchange(spare_, nullptr);
    const auto block = allocator_.allocate(raw_chunk_bytes(), shape_.value_alignment);
    if (block) return block->data;
    if (raw_chunks_.empty()) return block.status();
    return evict_one();
}

// The hand passes over chunks used since it came by last, once; so it needs at most two rounds.
Expected<std::byte*> SparseChunks::evict_one() noexcept {
    for (;; ++hand_) {
        if (hand_ >= raw_chunks_.size()) hand_ = 0;
        if (!raw_chunks_[hand_]->used_lately) break;
        raw_chunks_[hand_]->used_lately = false;
    }
    SparseChunk& chunk = *raw_chunks_[hand_];
    const Status packed = pack_chunk(chunk);
    if (packed != Status::ok) return packed;
    return detach_raw(chunk);
}

void SparseChunks::gather(const SparseChunk& chunk, std::byte* dense) const noexcept {
    with_value_bytes(shape_.value_bytes, [&](auto bytes) {
        for_each_run(chunk.occupancy(), shape_.chunk_values, bytes, [&](std::size_t offset, auto length) {
            std::memcpy(dense, chunk.raw + offset, length);
            dense += length;
        });
    });
}

void SparseChunks::scatter(SparseChunk& chunk, const std::byte* dense) const noexcept {
    with_value_bytes(shape_.value_bytes, [&](auto bytes) {
        for_each_run(chunk.occupancy(), shape_.chunk_values, bytes, [&](std::size_t offset, auto length) {
            std::memcpy(chunk.raw + offset, dense, length);
            dense += length;
        });
    });
}

Status SparseChunks::pack_chunk(SparseChunk& chunk) noexcept {
    if (chunk.packed != nullptr) return Status::ok;
    const std::span<std::byte> dense = dense_space(chunk.count);
    gather(chunk, dense.data());
    const std::span<std::byte> room = working_.bytes().subspan(raw_chunk_bytes());
    const std::size_t bytes = pack_values(dense, shape_.value_bytes, room);
    const auto block = allocator_.allocate(bytes, kPackedAlignment);
    if (!block) return block.status();
    std::memcpy(block->data, room.data(), bytes);
    chunk.packed = block->data;
    chunk.packed_bytes = static_cast<std::uint32_t>(bytes);
    stats_.packed_bytes += bytes;
    stats_.packed_value_bytes += dense.size();
    ++stats_.packings;
    return Status::ok;
}

void SparseChunks::drop_packed(SparseChunk& chunk) noexcept {
    allocator_.deallocate({chunk.packed, chunk.packed_bytes}, kPackedAlignment);
    chunk.packed = nullptr;
    stats_.packed_bytes -= chunk.packed_bytes;
    stats_.packed_value_bytes -= chunk.count * shape_.value_bytes;
}

Expected<const std::byte*> SparseChunks::dense_values(const SparseChunk& chunk) noexcept {
    const std::span<std::byte> dense = dense_space(chunk.count);
    if (chunk.raw != nullptr) {
        gather(chunk, dense.data());
        return dense.data();
    }
    const Status unpacked = unpack_values({chunk.packed, chunk.packed_bytes}, shape_.value_bytes, dense);
    if (unpacked != Status::ok) return unpacked;
    return dense.data();
}

// The space first: making room uses the working space too.
Status SparseChunks::unpack_chunk(SparseChunk& chunk) noexcept {
    ++stats_.misses;
    const auto raw = take_raw_space();
    if (!raw) return raw.status();
    const auto dense = dense_values(chunk);
    if (!dense) {
        give_raw_space(*raw);
        return dense.status();
    }
    attach_raw(chunk, *raw);
    scatter(chunk, *dense);
    return Status::ok;
}

Expected<std::size_t> SparseChunks::pack_unused(bool all) noexcept {
    std::size_t packed = 0;
    for (std::size_t i = raw_chunks_.size(); i-- > 0;) {
        SparseChunk& chunk = *raw_chunks_[i];
        if (chunk.used_lately && !all) {
            chunk.used_lately = false;
            continue;
        }
        const Status status = pack_chunk(chunk);
        if (status != Status::ok) return status;
        give_raw_space(detach_raw(chunk));
        ++packed;
    }
    return packed;
}

Status SparseChunks::check_chunk(const SparseChunk& chunk) noexcept {
    const std::size_t words = shape_.chunk_values / 64;
    if (chunk.count == 0 || count_bits({chunk.occupancy(), words}) != chunk.count)
        return Status::corrupt_data;
    if (chunk.raw == nullptr && chunk.packed == nullptr) return Status::corrupt_data;
    if (chunk.raw != nullptr) {
        const std::size_t at = chunk.raw_position;
        if (at >= raw_chunks_.size() || raw_chunks_[at] != &chunk) return Status::corrupt_data;
    }
    if (chunk.packed == nullptr) return Status::ok;
    const std::span<std::byte> dense = dense_space(chunk.count);
    const Status unpacked = unpack_values({chunk.packed, chunk.packed_bytes}, shape_.value_bytes, dense);
    if (unpacked != Status::ok || chunk.raw == nullptr) return unpacked;
    const std::byte* value = dense.data();
    for (std::size_t place = 0; place < shape_.chunk_values; ++place) {
        if (!chunk.has(place)) continue;
        if (std::memcmp(value, chunk.raw + place * shape_.value_bytes, shape_.value_bytes) != 0)
            return Status::corrupt_data;
        value += shape_.value_bytes;
    }
    return Status::ok;
}

Status SparseChunks::check() noexcept {
    SparseArrayStats seen;
    for (const SparseChunk* chunk = first_from(0); chunk != nullptr; chunk = first_from(chunk->number + 1)) {
        const Status status = check_chunk(*chunk);
        if (status != Status::ok) return status;
        ++seen.chunks;
        seen.elements += chunk->count;
        seen.raw_chunks += chunk->raw != nullptr ? 1 : 0;
        seen.packed_bytes += chunk->packed != nullptr ? chunk->packed_bytes : 0;
        if (chunk->number == 0xFFFFFFFF) break;
    }
    const bool counted = seen.chunks == stats_.chunks && seen.elements == stats_.elements &&
                         seen.raw_chunks == stats_.raw_chunks && seen.raw_chunks == raw_chunks_.size() &&
                         seen.packed_bytes == stats_.packed_bytes;
    return counted && seen.raw_chunks <= shape_.max_raw_chunks ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
