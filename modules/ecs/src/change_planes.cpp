#include <ouro/ecs/detail/change_planes.hpp>

#include <cstring>

namespace ouro::detail {

void ChangePlanes::roll_over() noexcept {
    expect_no_loop();
    declare_column();
    const bool is_next = column_.tick == now_ - 1;
    // What becomes the plane of this tick is empty: the older one, and both after a pause.
    if (column_.before == Changes::some) clear_plane(1 - now_plane());
    if (!is_next && column_.now == Changes::some) clear_plane(now_plane());
    column_.before = is_next ? column_.now : Changes::none;
    column_.now = Changes::none;
    column_.turn = static_cast<std::uint8_t>(1 - column_.turn);
    column_.tick = now_;
}

Status ChangePlanes::reserve() noexcept {
    if (column_.planes != 0) return Status::ok;
    const auto block = heap_.allocate(kPlanes * words_ * sizeof(std::uint64_t), 64);
    if (!block) return block.status();
    declare_column();
    column_.planes = heap_.offset_of(block->data);
    return Status::ok;
}

void ChangePlanes::release() noexcept {
    heap_.deallocate({heap_.base().start() + column_.planes, kPlanes * words_ * sizeof(std::uint64_t)});
    declare_column();
    column_.planes = 0;
}

void ChangePlanes::prepare() noexcept {
    roll();
    if (column_.now != Changes::none) return;
    expect_no_loop();
    declare_column();
    // Rather too many rows than one too few.
    column_.now = reserve() == Status::ok ? Changes::some : Changes::all;
}

void ChangePlanes::clear_plane(unsigned number) noexcept {
    std::uint64_t* const words = plane(number);
    heap_.mark(words, words_ * sizeof(std::uint64_t));
    std::memset(words, 0, words_ * sizeof(std::uint64_t));
}

void ChangePlanes::set_bit(unsigned number, std::uint32_t index) noexcept {
    std::uint64_t& word = plane(number)[index / 64];
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    if ((__atomic_load_n(&word, __ATOMIC_RELAXED) & bit) != 0) return;
    heap_.mark(&word, sizeof(word));
    __atomic_fetch_or(&word, bit, __ATOMIC_RELAXED);
}

void ChangePlanes::clear_bit(unsigned number, std::uint32_t index) noexcept {
    if (!test(number, index)) return;
    std::uint64_t& word = plane(number)[index / 64];
    heap_.mark(&word, sizeof(word));
    word &= ~(std::uint64_t{1} << (index % 64));
}

void ChangePlanes::mark_some(std::uint32_t begin, std::uint32_t end) noexcept {
    prepare();
    if (column_.now == Changes::all) return;
    if (end - begin == 1) return set_bit(now_plane(), begin);
    std::uint64_t* const words = plane(now_plane());
    heap_.mark(words + begin / 64, ((end - 1) / 64 - begin / 64 + 1) * sizeof(std::uint64_t));
    for (std::uint32_t row = begin; row < end;) {
        const std::uint32_t stop = row / 64 == (end - 1) / 64 ? end : (row / 64 + 1) * 64;
        const std::uint64_t ones = ~std::uint64_t{0} >> (64 - (stop - row)) << (row % 64);
        __atomic_fetch_or(&words[row / 64], ones, __ATOMIC_RELAXED);
        row = stop;
    }
}

void ChangePlanes::set_before(std::uint32_t index) noexcept {
    roll();
    if (column_.before == Changes::all) return;
    declare_column();
    if (reserve() != Status::ok) {
        column_.before = Changes::all;
        return;
    }
    column_.before = Changes::some;
    set_bit(1 - now_plane(), index);
}

Status ChangePlanes::set_disabled(std::uint32_t index, bool is_disabled) noexcept {
    if (!is_disabled && column_.has_disabled == 0) return Status::ok;
    if (const Status status = reserve(); status != Status::ok) return status;
    if (!is_disabled) {
        clear_bit(kDisabledPlane, index);
    } else {
        if (column_.has_disabled == 0) {
            declare_column();
            column_.has_disabled = 1;
        }
        set_bit(kDisabledPlane, index);
    }
    return Status::ok;
}

void ChangePlanes::forget(std::uint32_t index) noexcept {
    if (column_.planes == 0) return;
    if (column_.now == Changes::some) clear_bit(now_plane(), index);
    if (column_.before == Changes::some) clear_bit(1 - now_plane(), index);
    if (column_.has_disabled != 0) clear_bit(kDisabledPlane, index);
}

void ChangePlanes::forget_all() noexcept {
    if (column_.planes == 0) return;
    for (unsigned number = 0; number < kPlanes; ++number)
        clear_plane(number);
    declare_column();
    if (column_.now == Changes::some) column_.now = Changes::none;
    if (column_.before == Changes::some) column_.before = Changes::none;
    column_.has_disabled = 0;
}

void ChangePlanes::carry(ChangePlanes from, std::uint32_t from_index, ChangePlanes to, std::uint32_t to_index,
                         bool came_now, bool came_before) noexcept {
    const bool is_same_column = &from.column_ == &to.column_;
    // Most rows have nothing to carry: no bits, and the flags hold for both.
    if (is_same_column && from.column_.planes == 0 && !came_now && !came_before) return;
    const std::uint64_t bit = std::uint64_t{1} << (from_index % 64);
    const std::uint64_t word_now = from.changed_now_word(from_index / 64);
    const bool is_now = came_now || (word_now & bit) != 0;
    const bool is_before = came_before || (from.changed_word(from_index / 64) & ~word_now & bit) != 0;
    const bool is_off = from.is_disabled(from_index);
    to.forget(to_index);
    if (is_now) to.mark(to_index);
    if (is_before) to.set_before(to_index);
    if (is_off) static_cast<void>(to.set_disabled(to_index, true));
    from.forget(from_index);
}

}  // namespace ouro::detail
