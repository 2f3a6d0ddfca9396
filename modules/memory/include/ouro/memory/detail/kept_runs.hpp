#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ouro::detail {

struct KeptRun {
    std::uint32_t first = 0;
    // None: there is no run.
    std::uint32_t units = 0;
};

// The free runs of units that one thread keeps for its next large blocks. A list only: what the units are,
// and at which place of the list their run is, is written elsewhere.
class KeptRuns {
public:
    static constexpr unsigned kMostRuns = 32;
    static constexpr unsigned kNone = kMostRuns;
    static constexpr std::uint32_t kFirstUnits = 32;
    // Of one that can be asked for.
    static constexpr std::size_t kMostUnits = 32;

    // How many units there may be ever; none when the thread shall keep nothing. For now none: see
    // wanted_units().
    explicit KeptRuns(std::size_t most_units) noexcept : most_units_(static_cast<std::uint32_t>(most_units)) {
        std::ranges::fill(firsts_, kNoUnit);
        std::ranges::fill(ends_, kNoUnit);
    }

    // For other threads as well.
    [[nodiscard]] std::size_t units() const noexcept { return units_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint32_t limit_units() const noexcept { return limit_units_; }
    [[nodiscard]] std::uint32_t most_units() const noexcept { return most_units_; }
    // Which places have a run, a bit each.
    [[nodiscard]] std::uint32_t places() const noexcept { return places_; }
    [[nodiscard]] KeptRun at(unsigned place) const noexcept {
        return {firsts_[place], ends_[place] - firsts_[place]};
    }
    [[nodiscard]] bool has_room_for(std::size_t units) const noexcept {
        return places_ != ~std::uint32_t{0} && this->units() + units <= limit_units_;
    }

    // The place of the smallest run of so many units or more; kNone when there is none. Requires: units from
    // 1 to kMostUnits.
    [[nodiscard]] unsigned find(std::size_t units) const noexcept {
        const std::uint64_t fitting = sizes_ >> units;
        if (fitting == 0) return kNone;
        const std::size_t size = units + static_cast<std::size_t>(std::countr_zero(fitting));
        return static_cast<unsigned>(std::countr_zero(of_size_[size]));
    }
    // Whether the run at a place, any number, begins or ends there.
    [[nodiscard]] bool begins_at(unsigned place, std::size_t unit) const noexcept {
        return place < kMostRuns && firsts_[place] == unit;
    }
    [[nodiscard]] bool ends_at(unsigned place, std::size_t unit) const noexcept {
        return place < kMostRuns && ends_[place] == unit;
    }

    // Its place. Requires: has_room_for(run.units).
    unsigned add(KeptRun run) noexcept {
        const auto place = static_cast<unsigned>(std::countr_one(places_));
        places_ |= std::uint32_t{1} << place;
        put(place, run);
        change_units(run.units);
        return place;
    }
    // What is there instead, some units at least; and none any more.
    void change(unsigned place, KeptRun run) noexcept {
        const std::uint32_t old = take_off(place);
        put(place, run);
        change_units(run.units - old);
    }
    void remove(unsigned place) noexcept {
        change_units(0 - take_off(place));
        places_ &= ~(std::uint32_t{1} << place);
        firsts_[place] = ends_[place] = kNoUnit;
    }
    // Whether all that is known of the run at a place fits.
    [[nodiscard]] bool is_sound(unsigned place) const noexcept {
        const KeptRun run = at(place);
        return run.units != 0 && (of_size_[size_of(run)] >> place) % 2 != 0 &&
               (sizes_ >> size_of(run)) % 2 != 0;
    }

    // One to give up, each in its turn, so that none that fits nothing stays for ever. Requires: there is
    // one.
    [[nodiscard]] unsigned next_to_give_up() noexcept {
        gave_up_ = true;
        const unsigned from = ++last_given_up_ % kMostRuns;
        const auto place =
            from + static_cast<unsigned>(std::countr_zero(std::rotr(places_, static_cast<int>(from))));
        return place % kMostRuns;
    }
    // By how much the limit should be raised for who keeps the first run, or misses what it has given up: who
    // only frees keeps little. All threads together have a bound, so that it may get less.
    [[nodiscard]] std::uint32_t wanted_units() const noexcept {
        if (limit_units_ == 0) return std::min(kFirstUnits, most_units_);
        return gave_up_ ? std::min(limit_units_, most_units_ - limit_units_) : 0;
    }
    // When there is no run: what was promised to this thread, and is so no more.
    [[nodiscard]] std::uint32_t end_limit() noexcept {
        gave_up_ = false;
        return std::exchange(limit_units_, 0);
    }
    void raise_limit(std::uint32_t units) noexcept {
        gave_up_ = false;
        limit_units_ += units;
    }

private:
    static constexpr std::uint32_t kNoUnit = ~std::uint32_t{0};

    // The last is for all that are longer, too.
    [[nodiscard]] static std::size_t size_of(KeptRun run) noexcept {
        return std::min<std::size_t>(run.units, 63);
    }
    void put(unsigned place, KeptRun run) noexcept {
        firsts_[place] = run.first;
        ends_[place] = run.first + run.units;
        of_size_[size_of(run)] |= std::uint32_t{1} << place;
        sizes_ |= std::uint64_t{1} << size_of(run);
    }
    // From those of its size; how many units it has. Whether it was the last of them is anybody's guess: no
    // branch.
    std::uint32_t take_off(unsigned place) noexcept {
        const KeptRun run = at(place);
        const std::size_t size = size_of(run);
        const std::uint32_t others = of_size_[size] & ~(std::uint32_t{1} << place);
        of_size_[size] = others;
        sizes_ &= ~(std::uint64_t{others == 0} << size);
        return run.units;
    }
    void change_units(std::uint32_t difference) noexcept {
        units_.store(units_.load(std::memory_order_relaxed) + difference, std::memory_order_relaxed);
    }

    std::uint32_t most_units_;
    std::uint32_t limit_units_ = 0;
    std::uint32_t places_ = 0;
    unsigned last_given_up_ = 0;
    std::atomic<std::uint32_t> units_ = 0;
    bool gave_up_ = false;
    // The places with runs of a size, and which sizes there are.
    std::uint64_t sizes_ = 0;
    std::uint32_t of_size_[64] = {};
    std::uint32_t firsts_[kMostRuns];
    std::uint32_t ends_[kMostRuns];
};

}  // namespace ouro::detail
