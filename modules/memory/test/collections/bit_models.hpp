#pragma once

#include "collection_model.hpp"

#include <ouro/memory/collections/bit_flags.hpp>
#include <ouro/memory/collections/bit_set.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace ouro::testing_support {

// Compares a set of bits by everything that it can be asked.
template <class Set>
void compare_bits(const Set& set, const std::vector<bool>& model) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < model.size(); ++i) {
        if (model[i]) members.push_back(i);
        ASSERT_EQ(set.test(i), model[i]) << "bit " << i;
    }
    ASSERT_EQ(set.size(), model.size());
    ASSERT_EQ(set.count(), members.size());
    ASSERT_EQ(set.any(), !members.empty());
    ASSERT_EQ(set.none(), members.empty());
    ASSERT_EQ(set.all(), members.size() == model.size());
    ASSERT_TRUE(std::ranges::equal(set, members));
    std::vector<std::size_t> visited;
    set.for_each_set([&](std::size_t index) { visited.push_back(index); });
    ASSERT_EQ(visited, members);
    std::size_t found = set.find_first();
    for (const std::size_t member : members) {
        ASSERT_EQ(found, member);
        found = set.find_next(found);
    }
    ASSERT_EQ(found, set.size());
    const auto clear = std::find(model.begin(), model.end(), false);
    ASSERT_EQ(set.find_first_clear(), static_cast<std::size_t>(clear - model.begin()));
}

// One random change of a set of bits and of its model.
template <class Set>
void change_bits(Set& set, std::vector<bool>& model, Random& random) {
    if (model.empty()) return;
    const auto bits = static_cast<std::uint32_t>(model.size());
    const std::size_t index = random.below(bits);
    const std::size_t count = random.below(bits - static_cast<std::uint32_t>(index) + 1);
    const auto first = model.begin() + static_cast<std::ptrdiff_t>(index);
    switch (random.below(8)) {
        case 0:
            set.set(index);
            model[index] = true;
            break;
        case 1:
            set.clear(index);
            model[index] = false;
            break;
        case 2:
            set.flip(index);
            model[index] = !model[index];
            break;
        case 3:
            set.set_range(index, count);
            std::fill_n(first, count, true);
            break;
        case 4:
            set.clear_range(index, count);
            std::fill_n(first, count, false);
            break;
        case 5:
            set.flip_all();
            model.flip();
            break;
        case 6:
            set.assign(index, count % 2 == 0);
            model[index] = count % 2 == 0;
            break;
        default:
            if (random.chance(0.1)) set.set_all(), std::fill(model.begin(), model.end(), true);
            if (random.chance(0.1)) set.clear_all(), std::fill(model.begin(), model.end(), false);
    }
}

// BitSet beside std::vector<bool>.
class BitSetModel final : public CollectionModel {
public:
    BitSetModel(MemoryResource& resource, std::uint64_t seed) : CollectionModel(seed), set_(resource) {}

    void step() override {
        switch (random().below(20)) {
            case 0:
            case 1:
                return resize();
            case 2:
                return shrink();
            case 3:
                return clone();
            default:
                return change_bits(set_, model_, random());
        }
    }
    void verify() override { compare_bits(set_, model_); }

private:
    void resize() {
        const std::size_t bits = random_size();
        if (is_served(set_.resize(bits))) model_.resize(bits);
    }
    void shrink() {
        if (is_served(set_.shrink_to_fit())) {
            ASSERT_GE(set_.capacity_bits(), model_.size());
        }
    }
    void clone() {
        auto copy = set_.clone();
        if (!is_served(copy.status())) return;
        ASSERT_TRUE(*copy == set_);
        set_ = *std::move(copy);
    }

    BitSet set_;
    std::vector<bool> model_;
};

// Two FixedBitSets and what is made of both.
template <std::size_t N>
class FixedBitSetModel final : public CollectionModel {
public:
    explicit FixedBitSetModel(std::uint64_t seed) : CollectionModel(seed), model_one_(N), model_two_(N) {}

    void step() override {
        change_bits(one_, model_one_, random());
        change_bits(two_, model_two_, random());
    }
    void verify() override {
        ASSERT_NO_FATAL_FAILURE(compare_bits(one_, model_one_));
        const auto both = one_ & two_;
        const auto either = one_ | two_;
        const auto differing = one_ ^ two_;
        const auto without = one_ - two_;
        for (std::size_t i = 0; i < N; ++i) {
            ASSERT_EQ(both.test(i), model_one_[i] && model_two_[i]);
            ASSERT_EQ(either.test(i), model_one_[i] || model_two_[i]);
            ASSERT_EQ(differing.test(i), model_one_[i] != model_two_[i]);
            ASSERT_EQ(without.test(i), model_one_[i] && !model_two_[i]);
        }
        ASSERT_EQ(one_.intersects(two_), both.any());
        ASSERT_EQ(one_.is_subset_of(two_), without.none());
        ASSERT_TRUE(both.is_subset_of(one_) && both.is_subset_of(two_));
        ASSERT_EQ(one_ == two_, differing.none());
    }

private:
    FixedBitSet<N> one_;
    FixedBitSet<N> two_;
    std::vector<bool> model_one_;
    std::vector<bool> model_two_;
};

// BitFlags beside a std::set of enumerators.
class FlagsModel final : public CollectionModel {
public:
    explicit FlagsModel(std::uint64_t seed) : CollectionModel(seed) {}

    void step() override {
        const Flag flag{static_cast<std::uint8_t>(random().below(64))};
        const auto other = Flags::from_word(std::uint64_t{random().below(0xFFFFFFFF)} << random().below(32));
        switch (random().below(8)) {
            case 0:
            case 1:
                flags_.set(flag);
                model_.insert(flag);
                break;
            case 2:
                flags_.clear(flag);
                model_.erase(flag);
                break;
            case 3:
                flags_.flip(flag);
                if (model_.erase(flag) == 0) model_.insert(flag);
                break;
            case 4:
                flags_ |= other;
                model_.insert(other.begin(), other.end());
                break;
            case 5:
                flags_ &= other;
                std::erase_if(model_, [&](Flag each) { return !other.has(each); });
                break;
            case 6:
                flags_ -= other;
                std::erase_if(model_, [&](Flag each) { return other.has(each); });
                break;
            default:
                ASSERT_EQ(flags_.has(flag), model_.contains(flag));
                ASSERT_EQ(flags_.has_any(other),
                          std::ranges::any_of(model_, [&](Flag each) { return other.has(each); }));
        }
    }
    void verify() override {
        ASSERT_TRUE(std::ranges::equal(flags_, model_));
        ASSERT_EQ(flags_.count(), model_.size());
        ASSERT_EQ(flags_.empty(), model_.empty());
    }

private:
    enum class Flag : std::uint8_t {};
    using Flags = BitFlags<Flag, std::uint64_t>;

    Flags flags_;
    std::set<Flag> model_;
};

}  // namespace ouro::testing_support
