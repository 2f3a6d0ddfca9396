#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/handle.hpp>
#include <ouro/memory/tag.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

// The table of every range that a stream or strategy of the engine owns, with its name, tag and how far it is
// used: listed by a program, and read by a debugger or from a core file under the symbol ouro_block_table.
//
// Owners keep their entry up to date on slow paths only: when a range grows, shrinks or is asked to. Between
// those the numbers are of the last such moment; the true cursor then lies anywhere below the committed
// bytes, and the true high-water mark between the one shown and the committed bytes. Until an owner tells of
// its use, nothing is known of it. Heaps for any thread tell theirs whenever it changes by a unit.
namespace ouro {

inline constexpr std::size_t kMaxListedBlocks = 1024;
// With the zero at the end; a longer name is cut.
inline constexpr std::size_t kBlockNameBytes = 40;

enum class BlockKind : std::uint8_t {
    // Addresses reserved for this owner.
    own = 1,
    // A part of another listed block, or of memory that is not the engine's: leave it out of sums.
    borrowed = 2,
    // Many ranges under one entry, without one base.
    scattered = 3,
};

// As listings show it: "own", "part" or "scattered"; "unknown" for a number of a later version.
[[nodiscard]] std::string_view block_kind_name(BlockKind kind) noexcept;

// One entry as bytes, the same on every platform. Written by its owner while others read: in the process,
// read it through visit_blocks.
struct BlockEntry {
    // Odd while the entry is listed; each change of hands adds one.
    std::uint32_t generation;
    std::uint16_t tag;
    BlockKind kind;
    // One once the owner has told of its use.
    std::uint8_t use_is_told;
    std::uint64_t base;
    std::uint64_t reserved_bytes;
    std::uint64_t committed_bytes;
    std::uint64_t cursor_bytes;
    std::uint64_t peak_bytes;
    std::array<char, kBlockNameBytes> name;
};

// False while the owner has told of no use: then how much of the committed bytes is in use is not known.
// Where nothing is committed, nothing is in use.
[[nodiscard]] constexpr bool tells_use(const BlockEntry& entry) noexcept {
    return entry.use_is_told != 0 || entry.committed_bytes == 0;
}

struct BlockTable {
    // "ouroblk" and a zero, then the version of this layout: for readers of core files. Zero until the first
    // block is listed.
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t entry_bytes;
    std::uint32_t capacity;
    // Entries behind this one were never used.
    std::uint32_t used_entries;
    // Live ranges that found the table full and work without an entry.
    std::uint64_t unlisted;
    std::array<BlockEntry, kMaxListedBlocks> entries;
};

static_assert(sizeof(BlockEntry) == 88 && alignof(BlockEntry) == 8 &&
              std::is_trivially_copyable_v<BlockEntry>);
static_assert(offsetof(BlockEntry, base) == 8 && offsetof(BlockEntry, name) == 48);
static_assert(offsetof(BlockTable, entries) == 32);

extern "C" BlockTable ouro_block_table;

using BlockHandle = Handle<struct BlockEntry>;

// A consistent copy of an entry.
struct BlockInfo {
    BlockHandle handle;
    Tag tag;
    BlockKind kind = BlockKind::own;
    std::array<char, kBlockNameBytes> name_text{};
    std::uintptr_t base = 0;
    std::size_t reserved_bytes = 0;
    std::size_t committed_bytes = 0;
    std::size_t cursor_bytes = 0;
    std::size_t peak_bytes = 0;
    // As tells_use() of the entry.
    bool tells_use = false;

    [[nodiscard]] std::string_view name() const noexcept { return name_text.data(); }
};

struct BlockDescription {
    std::string_view name;
    Tag tag = {};
    BlockKind kind = BlockKind::own;
    const void* base = nullptr;
    std::size_t reserved_bytes = 0;
    std::size_t committed_bytes = 0;
};

// An entry with its owner: leaves the table when the owner goes, and moves with it. When the table is full
// the range works without an entry, and is counted.
class BlockRegistration {
public:
    constexpr BlockRegistration() noexcept = default;
    explicit BlockRegistration(const BlockDescription& description) noexcept;
    BlockRegistration(BlockRegistration&& other) noexcept
        : handle_(std::exchange(other.handle_, {})), unlisted_(std::exchange(other.unlisted_, false)) {}
    BlockRegistration& operator=(BlockRegistration&& other) noexcept;
    ~BlockRegistration() { remove(); }

    // Brings the entry up to date; the high-water mark follows the larger of cursor and peak, and never
    // falls. While both are zero the use counts as untold. By the owner only, one call at a time.
    void update(std::size_t committed_bytes, std::size_t cursor_bytes, std::size_t peak_bytes = 0) noexcept;
    // The same without an event: for owners that hold a lock here, which an observer might want.
    void update_silently(std::size_t committed_bytes, std::size_t cursor_bytes,
                         std::size_t peak_bytes = 0) noexcept;
    // The committed bytes alone, without an event, by any thread of the owner's: the last one's stay.
    void note_committed(std::size_t committed_bytes) noexcept;
    // The use alone, by any thread of the owner's: of several, what stays is the cursor of the last one in
    // the order of sequentially consistent operations, and the highest peak. Zero is told too.
    void note_use(std::size_t cursor_bytes, std::size_t peak_bytes) noexcept;
    // For an owner whose addresses change too.
    void update_reserved(std::size_t reserved_bytes) noexcept;

    [[nodiscard]] bool is_listed() const noexcept { return !handle_.is_null(); }
    [[nodiscard]] BlockHandle handle() const noexcept { return handle_; }

private:
    void remove() noexcept;

    BlockHandle handle_;
    bool unlisted_ = false;
};

// Copies of the listed entries into the span, as many as fit; returns how many there are. An entry that comes
// or goes meanwhile may be missing. From any thread; never waits.
std::size_t snapshot_blocks(std::span<BlockInfo> blocks) noexcept;

// stale_handle when the entry is no longer that of the handle.
[[nodiscard]] Expected<BlockInfo> find_block(BlockHandle handle) noexcept;

// The entry at an index below kMaxListedBlocks; not_found when none is listed there.
[[nodiscard]] Expected<BlockInfo> block_at(std::size_t index) noexcept;

[[nodiscard]] std::size_t listed_block_limit() noexcept;
[[nodiscard]] std::size_t unlisted_block_count() noexcept;

// Calls visit(const BlockInfo&) for each listed entry, with a copy: the visitor may register and remove.
template <class Visit>
void visit_blocks(Visit&& visit) {
    for (std::size_t index = 0; index < listed_block_limit(); ++index) {
        if (const auto block = block_at(index)) visit(*block);
    }
}

}  // namespace ouro
