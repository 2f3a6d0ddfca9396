#include "ecs/ecs_peers.hpp"
#include "harness/measure.hpp"
#include "os/os_suite.hpp"
#include "os/raw_memory.hpp"
#include "os/two_threads.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace ouro::bench {
namespace {

template <class T>
class RawColumn {
public:
    explicit RawColumn(std::uint32_t capacity)
        : memory_(filled_memory((capacity * sizeof(T) + kPageMask) & ~kPageMask)),
          rows_(reinterpret_cast<T*>(memory_.block().data)) {}

    [[nodiscard]] T* rows() const noexcept { return rows_; }
    void copy_from(const T* from, std::size_t count) const { std::memcpy(rows_, from, count * sizeof(T)); }
    // Past the caches, in whole lines.
    void stream_from(const RawColumn& other, std::size_t count) const {
        constexpr std::size_t kLineMask = 63;
        copy_streaming(memory_.block().data, other.memory_.block().data,
                       (count * sizeof(T) + kLineMask) & ~kLineMask);
    }

private:
    static constexpr std::size_t kPageMask = 4095;
    RawMapping memory_;
    T* rows_;
};

struct RawColumns {
    RawColumn<Position> positions;
    RawColumn<Velocity> velocities;
    RawColumn<Scale> scales;
    RawColumn<Vitality> vitalities;

    explicit RawColumns(std::uint32_t capacity)
        : positions(capacity), velocities(capacity), scales(capacity), vitalities(capacity) {}

    void copy_from(const RawColumns& other, std::uint32_t count) const {
        positions.copy_from(other.positions.rows(), count);
        velocities.copy_from(other.velocities.rows(), count);
        scales.copy_from(other.scales.rows(), count);
        vitalities.copy_from(other.vitalities.rows(), count);
    }
    void stream_from(const RawColumns& other, std::uint32_t count) const {
        positions.stream_from(other.positions, count);
        velocities.stream_from(other.velocities, count);
        scales.stream_from(other.scales, count);
        vitalities.stream_from(other.vitalities, count);
        finish_streaming();
    }
};

class RawWorld final : public EcsWorld {
public:
    explicit RawWorld(std::uint32_t capacity) : capacity_(capacity), columns_(capacity), slots_(capacity) {
        keep_slots(capacity);
    }

    void populate(Population population, const EntityRows& rows) override {
        create_bulk(rows, true);
        // Rows of the same kind lie together, as they do in a library.
        unsigned kinds = 1;
        if (population == Population::ten_kinds) kinds = kTraits;
        if (population == Population::six_trait_sets) kinds = 64;
        if (population == Population::all_trait_sets) kinds = 256;
        arrays_.clear();
        std::uint32_t row = 0;
        for (std::uint32_t kind = 0; kind < kinds; ++kind) {
            const std::uint32_t begin = row;
            for (std::uint32_t entity = kind; entity < rows.size(); entity += kinds, ++row) {
                columns_.positions.rows()[row] = rows.positions[entity];
                columns_.velocities.rows()[row] = rows.velocities[entity];
                columns_.scales.rows()[row] = rows.scales[entity];
            }
            arrays_.push_back({begin, row});
        }
    }
    void rewind() override { std::fill_n(columns_.positions.rows(), count_, Position{}); }
    std::uint64_t checksum() override {
        std::uint64_t sum = 0;
        for (std::uint32_t row = 0; row < count_; ++row)
            sum += sum_of(columns_.positions.rows()[row]);
        return sum;
    }

    void create_each(const EntityRows& rows) override {
        count_ = rows.size();
        Position* positions = columns_.positions.rows();
        Velocity* velocities = columns_.velocities.rows();
        std::uint64_t* slots = slots_.rows();
        for (std::uint32_t row = 0; row < count_; ++row) {
            positions[row] = rows.positions[row];
            velocities[row] = rows.velocities[row];
            slots[row] = row;
            keep(slots[row]);
        }
    }
    void create_bulk(const EntityRows& rows, bool four) override {
        count_ = rows.size();
        columns_.positions.copy_from(rows.positions.data(), count_);
        columns_.velocities.copy_from(rows.velocities.data(), count_);
        if (!four) return keep_slots(count_);
        columns_.scales.copy_from(rows.scales.data(), count_);
        columns_.vitalities.copy_from(rows.vitalities.data(), count_);
        keep_slots(count_);
    }
    void destroy_each() override { lacking("destroy"); }
    void destroy_bulk() override { lacking("destroy"); }

    void integrate(unsigned times) override {
        for (unsigned i = 0; i < times; ++i)
            for (const Rows& array : arrays_)
                integrate_rows(array.begin, array.end);
    }
    void integrate_scaled(unsigned times) override {
        Position* positions = columns_.positions.rows();
        const Velocity* velocities = columns_.velocities.rows();
        const Scale* scales = columns_.scales.rows();
        for (unsigned i = 0; i < times; ++i)
            for (const Rows& array : arrays_)
                for (std::uint32_t row = array.begin; row < array.end; ++row)
                    move_scaled(positions[row], velocities[row], scales[row]);
    }
    void integrate_on_two_threads(unsigned times) override {
        if (!second_) second_.emplace();
        const std::function<void(int)> half = [this](int part) {
            const std::uint32_t middle = count_ / 2;
            integrate_rows(part == 0 ? 0 : middle, part == 0 ? middle : count_);
        };
        for (unsigned i = 0; i < times; ++i)
            second_->run_both(half);
    }

    std::uint64_t get(std::span<const std::uint32_t> order) override {
        std::uint64_t sum = 0;
        for (const std::uint32_t entity : order)
            sum += sum_of(columns_.positions.rows()[entity]);
        return sum;
    }

    void add(Change) override { lacking("add"); }
    void remove(Change) override { lacking("remove"); }
    std::uint64_t count_with(Change) override { return 0; }
    void touch(std::span<const std::uint32_t>) override { lacking("changes"); }
    std::uint64_t sum_changed() override { lacking("changes"); }
    void settle() override {}
    void add_deferred() override { lacking("deferred"); }
    void destroy_deferred() override { lacking("deferred"); }
    void spawn_deferred(const EntityRows&) override { lacking("deferred"); }

    // A copy a tick, the oldest of which is restored: past ticks are not in the caches.
    void prepare_save() override {
        while (saved_.size() < kSaved) {
            saved_.emplace_back(capacity_);
            saved_.back().copy_from(columns_, count_);
        }
    }
    void save() override {
        next_saved_ = (next_saved_ + 1) % kSaved;
        saved_[next_saved_].stream_from(columns_, count_);
    }
    void spoil() override { rewind(); }
    void restore() override { columns_.copy_from(saved_[(next_saved_ + 1) % kSaved], count_); }

private:
    struct Rows {
        std::uint32_t begin, end;
    };

    void integrate_rows(std::uint32_t begin, std::uint32_t end) const {
        Position* positions = columns_.positions.rows();
        const Velocity* velocities = columns_.velocities.rows();
        for (std::uint32_t row = begin; row < end; ++row)
            move(positions[row], velocities[row]);
    }
    void keep_slots(std::uint32_t count) const {
        for (std::uint32_t row = 0; row < count; ++row)
            slots_.rows()[row] = row;
    }

    static constexpr std::size_t kSaved = 32;

    std::uint32_t capacity_;
    RawColumns columns_;
    std::vector<RawColumns> saved_;
    std::size_t next_saved_ = 0;
    RawColumn<std::uint64_t> slots_;
    std::uint32_t count_ = 0;
    std::vector<Rows> arrays_;
    std::optional<SecondThread> second_;
};

}  // namespace

EcsCandidate raw_arrays() {
    return {
        "raw arrays",
        "-",
        [](std::uint32_t capacity) -> std::unique_ptr<EcsWorld> {
            return std::make_unique<RawWorld>(capacity);
        },
        {Feature::destruction, Feature::bulk_destruction, Feature::moved, Feature::sparse, Feature::switched,
         Feature::change_detection, Feature::deferred_changes, Feature::deferred_spawns}};
}

}  // namespace ouro::bench
