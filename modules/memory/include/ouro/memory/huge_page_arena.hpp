#pragma once

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/os/huge_pages.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ouro {

// A bump arena on huge pages, for large data that is walked at random: fewer translations to miss. It asks
// for transparent huge pages, or for those it was told to, and takes what the system has; report() says what
// that was. Blocks die together, at reset() or back to a marker, and others can sit on it.
//
//     auto arena =
//         HugePageArena::create({.max_bytes = std::size_t{1} << 30, .pages = os::PageKind::reserved});
//     auto table = arena->allocate(table_bytes, 64);
//     if (arena->report().downgrades != 0) log(arena->report());
//
// Memory comes in chunks of whole huge pages, ready to be written without a fault, and stays until trim() or
// the end.
class HugePageArena final : public MemoryResource {
public:
    struct Options {
        const char* name = "huge pages";
        Tag tag = {};
        // The most it will ever take, in whole huge pages.
        std::size_t max_bytes = std::size_t{1} << 30;
        // What to take at once, and what to take at least when more is needed. With initial_bytes =
        // max_bytes all is decided, and known, at the start.
        std::size_t initial_bytes = 0;
        std::size_t chunk_bytes = std::size_t{8} << 20;
        // The best pages to ask for; each chunk falls back on its own. Reserved ones must be asked for by
        // name: a machine has put them aside for somebody.
        os::PageKind pages = os::PageKind::transparent;
    };

    // What was asked for and what was given, over all chunks held now; the counts are since the beginning.
    struct Report {
        os::PageKind asked = os::PageKind::normal;
        std::size_t huge_page_bytes = 0;
        // Each byte held is in one of these. Transparent ones were counted when the chunk was taken; the
        // system may split or join pages later: huge_bytes_now() asks again.
        std::size_t reserved_bytes = 0;
        std::size_t transparent_bytes = 0;
        std::size_t normal_bytes = 0;
        std::uint64_t chunks_taken = 0;
        // Chunks that came, in whole or in part, on lesser pages than asked for, of which transparent ones
        // are less than reserved; and why the last of them did: no_huge_pages, not_supported or
        // permission_denied; ok when there was none.
        std::uint64_t downgrades = 0;
        Status last_reason = Status::ok;
    };

    // Where the arena was: rewinding to it frees all that was allocated since.
    struct Marker {
        std::uint32_t chunk = 0;
        std::size_t used_bytes = 0;
    };

    // Fails with zero_size or size_overflow and, when there is an initial chunk, as os::allocate_huge does.
    [[nodiscard]] static Expected<HugePageArena> create(const Options& options) noexcept;
    // On one block of another resource, which must live longer. The system is asked to put huge pages behind
    // it, and the advice stays with those addresses.
    [[nodiscard]] static Expected<HugePageArena> create_on(MemoryResource& upstream, std::size_t bytes,
                                                           const char* name = "huge pages") noexcept;

    HugePageArena(HugePageArena&& other) noexcept;
    HugePageArena& operator=(HugePageArena&& other) noexcept;
    ~HugePageArena();

    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        note_allocation();
        const std::uintptr_t start = (cursor_ + (alignment - 1)) & ~(alignment - 1);
        const bool fits = start >= cursor_ && start <= limit_ && size <= limit_ - start;
        if (check_allocation(size, alignment) == Status::ok && fits) [[likely]] {
            cursor_ = start + size;
            ++allocations_;
            const MemoryBlock block{reinterpret_cast<std::byte*>(start), size};
            annotate::permit(block);
            return block;
        }
        return allocate_slow(size, alignment);
    }

    // The newest block goes back; of any other, nothing happens until the reset.
    void deallocate(MemoryBlock block,
                    [[maybe_unused]] std::size_t alignment = kDefaultAlignment) noexcept override {
        if (is_newest(block)) cut_to(reinterpret_cast<std::uintptr_t>(block.data));
    }

    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Any block can become smaller; only the newest can grow, within its chunk.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // Frees everything and keeps the chunks for what comes next.
    void reset() noexcept { rewind({}); }

    [[nodiscard]] Marker mark() const noexcept;
    // Requires: the arena has not been reset or rewound below the marker since (assert).
    void rewind(Marker marker) noexcept;
    // The same for those who see the contract only.
    [[nodiscard]] Expected<ResourceMark> place_mark() noexcept override;
    void free_since(ResourceMark mark) noexcept override;

    // Returns the chunks that hold nothing to the system; returns how many bytes it took. What it refuses is
    // kept for what comes next. None under a seal.
    std::size_t trim() noexcept;

    [[nodiscard]] Report report() const noexcept;
    // How many bytes of the arena are on huge pages at this moment. Asks the system: not for hot paths.
    [[nodiscard]] Expected<std::size_t> huge_bytes_now() const noexcept;

    // Bytes between the starts of chunks and their cursors, with what alignment skipped.
    [[nodiscard]] std::size_t used_bytes() const noexcept;

    [[nodiscard]] bool owns(const void* address) const noexcept override;
    [[nodiscard]] ResourceInfo info() const noexcept override;
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] Status check() const noexcept override;

private:
    struct Chunk {
        os::HugeBlock huge;
        // How much of it, and of all chunks before it, is in use; of the current chunk the cursor tells.
        std::size_t used_bytes = 0;
        std::size_t used_before = 0;
    };

    // Chunks grow with what is held, so that this many reach beyond any machine's memory.
    static constexpr std::uint32_t kMaxChunks = 64;

    HugePageArena(const Options& options, std::size_t max_bytes) noexcept;

    [[nodiscard]] bool is_newest(MemoryBlock block) const noexcept {
        return !block.is_null() && reinterpret_cast<std::uintptr_t>(block.end()) == cursor_;
    }
    void cut_to(std::uintptr_t address) noexcept {
        note_peak();
        if constexpr (annotate::kActive) forbid_from(address);
        cursor_ = address;
    }
    // For sanitizers: what is in use of the current chunk from there on is free.
    void forbid_from(std::uintptr_t address) const noexcept {
        annotate::forbid({reinterpret_cast<std::byte*>(address), cursor_ - address});
    }
    void forbid_since(Marker marker) const noexcept;
    void note_peak() noexcept;
    [[nodiscard]] std::size_t held_bytes() const noexcept;

    [[gnu::cold, gnu::noinline]] Expected<MemoryBlock> allocate_slow(std::size_t size,
                                                                     std::size_t alignment) noexcept;
    // Makes a chunk with room for so many bytes the current one.
    [[nodiscard]] Status enter_chunk(std::size_t bytes) noexcept;
    [[nodiscard]] Status take_chunk(std::size_t bytes) noexcept;
    void add_chunk(const os::HugeBlock& huge) noexcept;
    void move_into(std::uint32_t index) noexcept;
    [[nodiscard]] bool release_chunk(const Chunk& chunk) noexcept;
    std::size_t release_from(std::uint32_t first) noexcept;
    void release_all() noexcept;
    // Brings the registry of blocks up to date.
    void publish() noexcept;
    void take_from(HugePageArena& other) noexcept;

    std::uintptr_t cursor_ = 0;
    // The end of the current chunk.
    std::uintptr_t limit_ = 0;
    std::uint64_t allocations_ = 0;
    std::uint64_t failures_ = 0;
    std::size_t peak_bytes_ = 0;
    std::uint64_t chunks_taken_ = 0;
    std::uint64_t downgrades_ = 0;
    Status last_reason_ = Status::ok;
    // Chunks up to the current one are in use, those behind it are free.
    std::uint32_t chunk_count_ = 0;
    std::uint32_t current_ = 0;
    MemoryResource* upstream_ = nullptr;
    Options options_;
    std::size_t max_bytes_ = 0;
    std::array<Chunk, kMaxChunks> chunks_{};
    BlockRegistration listing_;
};

}  // namespace ouro
