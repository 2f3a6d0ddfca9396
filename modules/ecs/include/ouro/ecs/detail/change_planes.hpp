#pragma once

#include <ouro/ecs/detail/system_scope.hpp>
#include <ouro/ecs/layout.hpp>
#include <ouro/streams/image_heap.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ouro::detail {

// Whether a row can go from one to the other with nothing to be noted: there are no bits, and what concerns
// all rows is the same.
[[nodiscard]] inline bool have_same_state(const BlockColumn& a, const BlockColumn& b) noexcept {
    return (a.planes | b.planes) == 0 && a.tick == b.tick && a.now == b.now && a.before == b.before;
}

// Whether all rows count as changed in a tick: one comparison for both.
[[nodiscard]] inline bool is_all_changed(const BlockColumn& column, std::uint32_t tick) noexcept {
    constexpr std::uint64_t kMask = 0xff'ffff'ffff;
    static_assert(offsetof(BlockColumn, now) == offsetof(BlockColumn, tick) + sizeof(tick));
    static_assert(offsetof(BlockColumn, tick) + sizeof(kMask) == sizeof(BlockColumn));
    std::uint64_t flags = 0;
    std::memcpy(&flags, &column.tick, sizeof(flags));
    return (flags & kMask) ==
           (std::uint64_t{tick} | std::uint64_t{static_cast<std::uint8_t>(Changes::all)} << 32);
}

// Which rows of a column of a block were changed, in this tick and in the one before, and which are switched
// off: one bit a row each, in the image. What concerns all rows is a flag, and no bit is written.
//
// A column is brought to this tick by the first change of the tick. Setting bits is then safe from several
// threads at once.
class ChangePlanes {
public:
    ChangePlanes(ImageHeap& heap, BlockColumn& column, std::uint32_t block_rows, std::uint32_t now) noexcept
        : heap_(heap), column_(column), words_(block_rows / 64), now_(now) {}

    // Brings the column to this tick.
    void roll() noexcept {
        if (column_.tick != now_) [[unlikely]]
            roll_over();
    }

    // The same, and room for bits, so that nothing is left to do but to set them: before several threads
    // mark.
    void prepare() noexcept;

    // Room for bits. capacity_exhausted.
    [[nodiscard]] Status reserve() noexcept;
    void release() noexcept;

    void mark(std::uint32_t index) noexcept {
        roll();
        if (column_.now != Changes::all) mark_some(index, index + 1);
    }
    // The same where nobody else marks: without a locked instruction, and without asking what was marked.
    void mark_alone(std::uint32_t index, DirtyMap& marks) noexcept {
        if (column_.tick != now_ || column_.now != Changes::some) [[unlikely]]
            return mark(index);
        std::uint64_t& word = plane(now_plane())[index / 64];
        word |= std::uint64_t{1} << (index % 64);
        marks.mark_alone(&word, sizeof(word));
    }
    void mark_range(std::uint32_t begin, std::uint32_t end) noexcept {
        roll();
        if (column_.now != Changes::all && begin != end) mark_some(begin, end);
    }
    // Requires: the column itself is declared.
    void mark_all() noexcept {
        roll();
        if (column_.now == Changes::all) return;
        expect_no_loop();
        if (column_.now == Changes::some) clear_plane(now_plane());
        column_.now = Changes::all;
    }

    // 64 rows at a time: those changed in this tick or in the one before; and in this tick alone.
    [[nodiscard]] std::uint64_t changed_word(std::uint32_t word) const noexcept {
        if (column_.tick == now_)
            return word_of(column_.now, now_plane(), word) | word_of(column_.before, 1 - now_plane(), word);
        return column_.tick == now_ - 1 ? word_of(column_.now, now_plane(), word) : 0;
    }
    [[nodiscard]] std::uint64_t changed_now_word(std::uint32_t word) const noexcept {
        return column_.tick == now_ ? word_of(column_.now, now_plane(), word) : 0;
    }
    // The same for the whole block: words of up to two planes, or all rows.
    struct Bits {
        const std::uint64_t* one = nullptr;
        const std::uint64_t* other = nullptr;
        std::uint64_t all = 0;
    };
    [[nodiscard]] Bits changed_bits() const noexcept {
        Bits bits = bits_of(column_.now, now_plane());
        if (column_.tick != now_) return column_.tick == now_ - 1 ? bits : Bits{};
        const Bits before = bits_of(column_.before, 1 - now_plane());
        return {bits.one, before.one, bits.all | before.all};
    }
    [[nodiscard]] Bits changed_now_bits() const noexcept {
        return column_.tick == now_ ? bits_of(column_.now, now_plane()) : Bits{};
    }
    // Null: none.
    [[nodiscard]] const std::uint64_t* disabled_bits() const noexcept {
        return column_.has_disabled != 0 ? plane(kDisabledPlane) : nullptr;
    }
    [[nodiscard]] std::uint64_t disabled_word(std::uint32_t word) const noexcept {
        return column_.has_disabled != 0 ? plane(kDisabledPlane)[word] : 0;
    }
    [[nodiscard]] bool is_disabled(std::uint32_t index) const noexcept {
        return (disabled_word(index / 64) >> (index % 64) & 1) != 0;
    }
    // capacity_exhausted when there is no room for the bits.
    Status set_disabled(std::uint32_t index, bool is_disabled) noexcept;

    // The row that was at `from` is at `to` now, and nothing is left there. `came`: it is new in this tick.
    static void carry(ChangePlanes from, std::uint32_t from_index, ChangePlanes to, std::uint32_t to_index,
                      bool came_now, bool came_before) noexcept;
    // Nothing is there any more; at all.
    void forget(std::uint32_t index) noexcept;
    void forget_all() noexcept;

private:
    static constexpr unsigned kPlanes = 3;
    static constexpr unsigned kDisabledPlane = 2;

    // The two planes of changes take turns, so that nothing is copied when a tick ends.
    [[nodiscard]] unsigned now_plane() const noexcept { return column_.turn; }
    [[nodiscard]] std::uint64_t* plane(unsigned number) const noexcept {
        return reinterpret_cast<std::uint64_t*>(heap_.base().start() + column_.planes) + number * words_;
    }
    [[nodiscard]] std::uint64_t word_of(Changes changes, unsigned number, std::uint32_t word) const noexcept {
        // Others may set bits of other rows meanwhile.
        if (changes == Changes::some) return __atomic_load_n(plane(number) + word, __ATOMIC_RELAXED);
        return changes == Changes::all ? ~std::uint64_t{0} : 0;
    }
    [[nodiscard]] Bits bits_of(Changes changes, unsigned number) const noexcept {
        return {changes == Changes::some ? plane(number) : nullptr, nullptr,
                changes == Changes::all ? ~std::uint64_t{0} : 0};
    }
    [[nodiscard]] bool test(unsigned number, std::uint32_t index) const noexcept {
        return (plane(number)[index / 64] >> (index % 64) & 1) != 0;
    }

    void roll_over() noexcept;
    void mark_some(std::uint32_t begin, std::uint32_t end) noexcept;
    void clear_plane(unsigned number) noexcept;
    void set_bit(unsigned number, std::uint32_t index) noexcept;
    void clear_bit(unsigned number, std::uint32_t index) noexcept;
    void set_before(std::uint32_t index) noexcept;
    void declare_column() noexcept { heap_.mark(&column_, sizeof(BlockColumn)); }

    ImageHeap& heap_;
    BlockColumn& column_;
    std::uint32_t words_;
    std::uint32_t now_;
};

}  // namespace ouro::detail
