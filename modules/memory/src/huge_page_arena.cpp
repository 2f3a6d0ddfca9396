#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace ouro {
namespace {

// What chunks are made of, and what they are aligned to.
std::size_t chunk_unit() noexcept {
    return std::max(os::huge_page_size(), os::page_size());
}

// Asks for huge pages behind the whole ones of a block that somebody else mapped.
os::HugePageReport advise_borrowed(MemoryBlock block) noexcept {
    os::HugePageReport report{
        .asked = os::PageKind::transparent, .given = os::PageKind::normal, .page_bytes = os::page_size()};
    const std::size_t skipped = padding_to(block.data, chunk_unit());
    const std::size_t whole = skipped < block.size ? align_down(block.size - skipped, chunk_unit()) : 0;
    if (whole == 0 || os::huge_page_size() == 0) {
        report.reason = os::huge_page_size() == 0 ? Status::not_supported : Status::no_huge_pages;
        return report;
    }
    const MemoryBlock pages = block.sub(skipped, whole);
    report.reason = os::advise_huge(pages, true).status();
    if (report.reason == Status::ok) report.reason = os::prefault(pages).status();
    report.huge_bytes = os::huge_bytes_in(pages).value_or(std::size_t{0});
    if (report.huge_bytes != 0) {
        report.given = os::PageKind::transparent;
        report.page_bytes = os::huge_page_size();
    }
    if (report.reason == Status::ok && report.huge_bytes < whole) report.reason = Status::no_huge_pages;
    return report;
}

}  // namespace

Expected<HugePageArena> HugePageArena::create(const Options& options) noexcept {
    if (options.max_bytes == 0) return Status::zero_size;
    const auto max_bytes = checked_align_up(options.max_bytes, chunk_unit());
    const auto step = checked_align_up(options.chunk_bytes, chunk_unit());
    if (!max_bytes || !step) return Status::size_overflow;
    HugePageArena arena(options, *max_bytes);
    arena.listing_ =
        BlockRegistration({.name = options.name, .tag = options.tag, .kind = BlockKind::scattered});
    if (options.initial_bytes != 0) {
        const Status taken = arena.take_chunk(options.initial_bytes);
        if (taken != Status::ok) return taken;
        arena.move_into(0);
    }
    return arena;
}

Expected<HugePageArena> HugePageArena::create_on(MemoryResource& upstream, std::size_t bytes,
                                                 const char* name) noexcept {
    const auto block = upstream.allocate(bytes, kDefaultAlignment);
    if (!block) return block.status();
    HugePageArena arena({.name = name, .max_bytes = block->size, .pages = os::PageKind::transparent},
                        block->size);
    arena.upstream_ = &upstream;
    arena.listing_ = BlockRegistration({.name = name,
                                        .kind = BlockKind::borrowed,
                                        .base = block->data,
                                        .reserved_bytes = block->size,
                                        .committed_bytes = block->size});
    arena.add_chunk({*block, advise_borrowed(*block)});
    arena.move_into(0);
    return arena;
}

HugePageArena::HugePageArena(const Options& options, std::size_t max_bytes) noexcept
    : options_(options), max_bytes_(max_bytes) {}

HugePageArena::HugePageArena(HugePageArena&& other) noexcept {
    take_from(other);
}

HugePageArena& HugePageArena::operator=(HugePageArena&& other) noexcept {
    if (this != &other) {
        release_all();
        take_from(other);
    }
    return *this;
}

HugePageArena::~HugePageArena() {
    release_all();
}

void HugePageArena::take_from(HugePageArena& other) noexcept {
    cursor_ = std::exchange(other.cursor_, 0);
    limit_ = std::exchange(other.limit_, 0);
    allocations_ = std::exchange(other.allocations_, 0);
    failures_ = std::exchange(other.failures_, 0);
    peak_bytes_ = std::exchange(other.peak_bytes_, 0);
    chunks_taken_ = std::exchange(other.chunks_taken_, 0);
    downgrades_ = std::exchange(other.downgrades_, 0);
    last_reason_ = std::exchange(other.last_reason_, Status::ok);
    chunk_count_ = std::exchange(other.chunk_count_, 0);
    current_ = std::exchange(other.current_, 0);
    upstream_ = std::exchange(other.upstream_, nullptr);
    options_ = other.options_;
    // What was moved from can hold nothing any more.
    max_bytes_ = std::exchange(other.max_bytes_, 0);
    std::copy_n(other.chunks_.begin(), chunk_count_, chunks_.begin());
    listing_ = std::move(other.listing_);
}

void HugePageArena::release_all() noexcept {
    listing_ = {};
    // What had no room to be noted as a hole may have it once others have gone.
    release_from(0);
    release_from(0);
    chunk_count_ = 0;
}

// Returns how many bytes the system took; the chunks it would not take stay, as free ones.
std::size_t HugePageArena::release_from(std::uint32_t first) noexcept {
    std::size_t bytes = 0;
    std::uint32_t kept = first;
    for (std::uint32_t index = first; index < chunk_count_; ++index) {
        if (release_chunk(chunks_[index])) {
            bytes += chunks_[index].huge.block.size;
        } else {
            chunks_[kept++] = chunks_[index];
        }
    }
    chunk_count_ = kept;
    return bytes;
}

bool HugePageArena::release_chunk(const Chunk& chunk) noexcept {
    annotate::permit_written(chunk.huge.block);
    if (upstream_ != nullptr) {
        upstream_->deallocate(chunk.huge.block, kDefaultAlignment);
        return true;
    }
    if (os::release_huge(chunk.huge)) return true;
    annotate::forbid(chunk.huge.block);
    return false;
}

Expected<MemoryBlock> HugePageArena::allocate_slow(std::size_t size, std::size_t alignment) noexcept {
    Status status = check_allocation(size, alignment);
    if (status == Status::ok) {
        // A chunk starts on its unit; only what asks for more may have to skip bytes. A borrowed one may
        // start anywhere.
        const std::size_t start_unit = upstream_ == nullptr ? chunk_unit() : 1;
        const auto bytes = checked_add(size, alignment > start_unit ? alignment - start_unit : 0);
        status = bytes ? enter_chunk(*bytes) : bytes.status();
    }
    if (status == Status::ok) return allocate(size, alignment);
    ++failures_;
    return status;
}

Status HugePageArena::enter_chunk(std::size_t bytes) noexcept {
    const std::uint32_t first_free = limit_ == 0 ? 0 : current_ + 1;
    for (std::uint32_t index = first_free; index < chunk_count_; ++index) {
        if (chunks_[index].huge.block.size < bytes) continue;
        std::swap(chunks_[index], chunks_[first_free]);
        move_into(first_free);
        return Status::ok;
    }
    // Free chunks that are too small must not stand in the way of one that is large enough.
    if (bytes > max_bytes_ - std::min(max_bytes_, held_bytes())) trim();
    const Status taken = take_chunk(bytes);
    if (taken != Status::ok) return taken;
    const std::uint32_t next = limit_ == 0 ? 0 : current_ + 1;
    std::swap(chunks_[chunk_count_ - 1], chunks_[next]);
    move_into(next);
    return Status::ok;
}

Status HugePageArena::take_chunk(std::size_t bytes) noexcept {
    const std::size_t held = held_bytes();
    const std::size_t room = max_bytes_ > held ? max_bytes_ - held : 0;
    if (upstream_ != nullptr || bytes > room || chunk_count_ == kMaxChunks) return Status::capacity_exhausted;
    if (const Status growth = check_unsealed(); growth != Status::ok) return growth;
    const std::size_t wanted =
        align_up(std::min(std::max({bytes, options_.chunk_bytes, held / 4}), room), chunk_unit());
    auto huge = os::allocate_huge(wanted, options_.pages);
    // Less than hoped for may still be enough.
    if (!huge && wanted > align_up(bytes, chunk_unit())) huge = os::allocate_huge(bytes, options_.pages);
    if (!huge) return huge.status();
    add_chunk(*huge);
    return Status::ok;
}

void HugePageArena::add_chunk(const os::HugeBlock& huge) noexcept {
    annotate::forbid(huge.block);
    chunks_[chunk_count_++] = {.huge = huge};
    ++chunks_taken_;
    publish();
    if (huge.report.reason == Status::ok) return;
    ++downgrades_;
    last_reason_ = huge.report.reason;
}

// Requires: the chunk is free, and the first of the free ones.
void HugePageArena::move_into(std::uint32_t index) noexcept {
    std::size_t used_before = 0;
    if (index != 0) {
        Chunk& left = chunks_[current_];
        left.used_bytes = cursor_ - reinterpret_cast<std::uintptr_t>(left.huge.block.data);
        used_before = left.used_before + left.used_bytes;
    }
    current_ = index;
    chunks_[index].used_before = used_before;
    cursor_ = reinterpret_cast<std::uintptr_t>(chunks_[index].huge.block.data);
    limit_ = cursor_ + chunks_[index].huge.block.size;
}

Expected<MemoryBlock> HugePageArena::reallocate(MemoryBlock block, std::size_t new_size,
                                                std::size_t alignment) noexcept {
    if (!block.is_null()) {
        const auto resized = try_resize(block, new_size, alignment);
        if (resized) return resized;
        if (resized.status() != Status::capacity_exhausted) {
            ++failures_;
            return resized;
        }
    }
    return move_to_new_block(*this, block, new_size, alignment);
}

Expected<MemoryBlock> HugePageArena::try_resize(MemoryBlock block, std::size_t new_size,
                                                std::size_t alignment) noexcept {
    const Status asked = check_allocation(new_size, alignment);
    if (asked != Status::ok) return asked;
    OURO_DEBUG_ASSERT(!block.is_null(), "nothing can be resized in place");
    if (new_size > block.size) note_allocation();
    const auto start = reinterpret_cast<std::uintptr_t>(block.data);
    if (is_newest(block) && new_size <= limit_ - start) {
        if (new_size > block.size) {
            annotate::permit({block.end(), new_size - block.size});
            cursor_ = start + new_size;
        } else {
            cut_to(start + new_size);
        }
        return MemoryBlock{block.data, new_size};
    }
    if (new_size > block.size) return Status::capacity_exhausted;
    return MemoryBlock{block.data, new_size};
}

Expected<ResourceMark> HugePageArena::place_mark() noexcept {
    const Marker now = mark();
    return ResourceMark{.used_bytes = now.used_bytes, .live_blocks = now.chunk};
}

void HugePageArena::free_since(ResourceMark mark) noexcept {
    rewind({.chunk = static_cast<std::uint32_t>(mark.live_blocks), .used_bytes = mark.used_bytes});
}

HugePageArena::Marker HugePageArena::mark() const noexcept {
    if (limit_ == 0) return {};
    return {current_, cursor_ - reinterpret_cast<std::uintptr_t>(chunks_[current_].huge.block.data)};
}

void HugePageArena::rewind(Marker marker) noexcept {
    const Marker now = mark();
    OURO_BLOCK_ASSERT(
        marker.chunk < now.chunk || (marker.chunk == now.chunk && marker.used_bytes <= now.used_bytes),
        "the marker is of memory that was freed already", *this, nullptr);
    if (limit_ == 0) return;
    note_peak();
    if constexpr (annotate::kActive) forbid_since(marker);
    current_ = marker.chunk;
    const MemoryBlock block = chunks_[current_].huge.block;
    cursor_ = reinterpret_cast<std::uintptr_t>(block.data) + marker.used_bytes;
    limit_ = reinterpret_cast<std::uintptr_t>(block.end());
}

void HugePageArena::forbid_since(Marker marker) const noexcept {
    const std::size_t used_now = mark().used_bytes;
    for (std::uint32_t index = marker.chunk; index <= current_; ++index) {
        const Chunk& chunk = chunks_[index];
        const std::size_t kept = index == marker.chunk ? marker.used_bytes : 0;
        const std::size_t used = index == current_ ? used_now : chunk.used_bytes;
        annotate::forbid(chunk.huge.block.sub(kept, used - kept));
    }
}

std::size_t HugePageArena::trim() noexcept {
    if (upstream_ != nullptr || is_sealed()) return 0;
    const bool keeps_current = limit_ != 0 && (current_ != 0 || mark().used_bytes != 0);
    const std::uint32_t kept = keeps_current ? current_ + 1 : 0;
    const std::size_t bytes = release_from(kept);
    if (kept == 0) cursor_ = limit_ = 0;
    publish();
    return bytes;
}

void HugePageArena::publish() noexcept {
    const std::size_t held = held_bytes();
    listing_.update_reserved(held);
    listing_.update(held, used_bytes(), peak_bytes_);
}

void HugePageArena::note_peak() noexcept {
    peak_bytes_ = std::max(peak_bytes_, used_bytes());
}

std::size_t HugePageArena::used_bytes() const noexcept {
    return limit_ == 0 ? 0 : chunks_[current_].used_before + mark().used_bytes;
}

std::size_t HugePageArena::held_bytes() const noexcept {
    std::size_t bytes = 0;
    for (std::uint32_t index = 0; index < chunk_count_; ++index)
        bytes += chunks_[index].huge.block.size;
    return bytes;
}

HugePageArena::Report HugePageArena::report() const noexcept {
    Report report{.asked = options_.pages,
                  .huge_page_bytes = os::huge_page_size(),
                  .chunks_taken = chunks_taken_,
                  .downgrades = downgrades_,
                  .last_reason = last_reason_};
    for (std::uint32_t index = 0; index < chunk_count_; ++index) {
        const os::HugeBlock& huge = chunks_[index].huge;
        const bool is_reserved = huge.report.given == os::PageKind::reserved;
        (is_reserved ? report.reserved_bytes : report.transparent_bytes) += huge.report.huge_bytes;
        report.normal_bytes += huge.block.size - huge.report.huge_bytes;
    }
    return report;
}

Expected<std::size_t> HugePageArena::huge_bytes_now() const noexcept {
    std::size_t total = 0;
    for (std::uint32_t index = 0; index < chunk_count_; ++index) {
        const MemoryBlock block = chunks_[index].huge.block;
        const std::size_t skipped = std::min(padding_to(block.data, os::page_size()), block.size);
        const std::size_t whole = align_down(block.size - skipped, os::page_size());
        if (whole == 0) continue;
        const auto bytes = os::huge_bytes_in(block.sub(skipped, whole));
        if (!bytes) return bytes.status();
        total += *bytes;
    }
    return total;
}

bool HugePageArena::owns(const void* address) const noexcept {
    const std::span held(chunks_.data(), chunk_count_);
    return std::ranges::any_of(held, [=](const Chunk& chunk) { return chunk.huge.block.contains(address); });
}

ResourceInfo HugePageArena::info() const noexcept {
    return {.name = options_.name, .thread_safety = ThreadSafety::single_thread, .frees_blocks = false};
}

ResourceStats HugePageArena::stats() const noexcept {
    return {.live_bytes = used_bytes(),
            .peak_bytes = std::max(peak_bytes_, used_bytes()),
            .live_blocks = 0,
            .reserved_bytes = held_bytes(),
            .committed_bytes = held_bytes(),
            .allocations = allocations_,
            .failures = failures_};
}

Status HugePageArena::check() const noexcept {
    if (chunk_count_ > kMaxChunks || held_bytes() > max_bytes_) return Status::corrupt_data;
    if (limit_ == 0) return cursor_ == 0 ? Status::ok : Status::corrupt_data;
    if (current_ >= chunk_count_) return Status::corrupt_data;
    const MemoryBlock block = chunks_[current_].huge.block;
    const auto begin = reinterpret_cast<std::uintptr_t>(block.data);
    if (cursor_ < begin || cursor_ > limit_ || limit_ != begin + block.size) return Status::corrupt_data;
    std::size_t used_before = 0;
    for (std::uint32_t index = 0; index < chunk_count_; ++index) {
        const Chunk& chunk = chunks_[index];
        for (std::uint32_t other = 0; other < index; ++other) {
            if (chunks_[other].huge.block.overlaps(chunk.huge.block)) return Status::corrupt_data;
        }
        if (index > current_) continue;
        if (chunk.used_before != used_before) return Status::corrupt_data;
        if (index != current_ && chunk.used_bytes > chunk.huge.block.size) return Status::corrupt_data;
        used_before += chunk.used_bytes;
    }
    return Status::ok;
}

}  // namespace ouro
