#pragma once

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>
#include <ouro/memory/collections/text_arena.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

// A text of a StringInterner: comparing two of the same interner compares the texts. The number counts the
// different texts in the order in which they came, so that the same program run gives the same ids
// everywhere.
enum class StringId : std::uint32_t { none = 0xFFFFFFFF };

// Keeps one copy of each text and gives it a number. Views stay valid until clear() or the end, whatever is
// added.
//
//     StringInterner names(allocator);
//     const auto id = names.intern("torch");          // Expected<StringId>
//     names.text(*id) == "torch"
//
// One thread at a time changes it; while nobody does, any number of threads may read.
class StringInterner {
public:
    struct Stats {
        std::size_t strings = 0;
        // Of the texts with their ends, of the blocks they lie in, of the table and the list of ids.
        std::size_t text_bytes = 0;
        std::size_t text_block_bytes = 0;
        std::size_t index_bytes = 0;
        // Slots looked at to find a text, at worst and in total over all texts.
        std::size_t longest_probe = 0;
        std::size_t total_probes = 0;
        // Calls of intern that found the text, and that added it.
        std::uint64_t found = 0;
        std::uint64_t added = 0;
    };

    explicit StringInterner(Allocator allocator) noexcept
        : texts_(allocator), slots_(allocator), arena_(allocator) {}

    // The id of the text, which is added when new. Any bytes are a text, none included. Fails as the
    // allocator does, with size_overflow for a text of 4 GiB or more, or with capacity_exhausted when all ids
    // are used; then nothing was added.
    [[nodiscard]] Expected<StringId> intern(std::string_view text) noexcept;
    // The id, or not_found.
    [[nodiscard]] Expected<StringId> find(std::string_view text) const noexcept;

    // Requires: an id of this interner since the last clear() (assert). The text is followed by a zero.
    [[nodiscard]] std::string_view text(StringId id) const noexcept {
        const auto index = static_cast<std::size_t>(id);
        OURO_ASSERT(index < texts_.size(), "the id is of another interner");
        return texts_[index];
    }
    // The text, or out_of_range: for ids that nobody has looked at.
    [[nodiscard]] Expected<std::string_view> lookup(StringId id) const noexcept {
        const auto index = static_cast<std::size_t>(id);
        if (index >= texts_.size()) return Status::out_of_range;
        return texts_[index];
    }

    // All texts; the id is the index. As a range the interner is the same. A text that is added ends
    // iterators.
    [[nodiscard]] std::span<const std::string_view> texts() const noexcept { return texts_.span(); }
    using value_type = std::string_view;
    using const_iterator = const std::string_view*;
    using iterator = const_iterator;
    [[nodiscard]] const_iterator begin() const noexcept { return texts_.begin(); }
    [[nodiscard]] const_iterator end() const noexcept { return texts_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }
    [[nodiscard]] bool empty() const noexcept { return texts_.empty(); }

    // Room in table and list for so many texts in all; their bytes come as they come.
    [[nodiscard]] Status reserve(std::size_t strings) noexcept;
    // Forgets all texts and keeps the memory; ids start again.
    void clear() noexcept;
    // Returns the memory as well.
    void release() noexcept;

    // Walks all texts: not for hot paths.
    [[nodiscard]] Stats stats() const noexcept;
    // Verifies that each text is found under its id, and nothing else is: ok or corrupt_data.
    [[nodiscard]] Status check() const noexcept;

private:
    // 32 bits of the hash choose the place and are compared before the text is; the table can grow without
    // touching a text. An id of zero means free.
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t id_plus_one = 0;
    };
    static constexpr std::size_t kFirstSlots = 16;
    static constexpr std::size_t kMaxStrings = std::size_t{0xFFFFFFFE};

    [[nodiscard]] static std::uint32_t hash_of(std::string_view text) noexcept;
    // Slots needed to stay below the load at which probes become long.
    [[nodiscard]] static std::size_t slots_for(std::size_t strings) noexcept;
    // The slot of the text, or the free one where it belongs. Requires: a free slot.
    [[nodiscard]] std::size_t probe(std::string_view text, std::uint32_t hash) const noexcept;
    [[nodiscard]] std::size_t probe_length(std::size_t slot) const noexcept;
    [[nodiscard]] Status rebuild(std::size_t slot_count) noexcept;
    [[nodiscard]] Expected<StringId> add(std::string_view text, std::uint32_t hash) noexcept;

    PooledVector<std::string_view> texts_;
    PooledVector<Slot> slots_;
    TextArena arena_;
    std::uint64_t found_ = 0;
    std::uint64_t added_ = 0;
};

}  // namespace ouro
