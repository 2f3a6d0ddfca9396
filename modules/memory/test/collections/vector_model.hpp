#pragma once

#include "collection_model.hpp"

#include <ouro/memory/collections/pooled_vector.hpp>

#include <algorithm>
#include <concepts>
#include <span>
#include <utility>
#include <vector>

namespace ouro::testing_support {

// PooledVector beside std::vector.
template <class T>
class VectorModel final : public CollectionModel {
public:
    VectorModel(MemoryResource& resource, std::uint64_t seed) : CollectionModel(seed), vector_(resource) {}

    void step() override {
        switch (random().below(16)) {
            case 0:
            case 1:
            case 2:
            case 3:
            case 4:
                return push_back();
            case 5:
            case 6:
                return insert();
            case 7:
                return erase_range();
            case 8:
                return swap_remove();
            case 9:
                return resize(random_index());
            case 10:
                return resize(random_size());
            case 11:
                return shrink();
            case 12:
                return reserve();
            case 13:
                return append_own();
            case 14:
                return clone();
            default:
                return move_away_and_back();
        }
    }

    void verify() override { ASSERT_TRUE(std::ranges::equal(vector_, model_)); }

private:
    [[nodiscard]] std::size_t random_index() {
        return random().below(static_cast<std::uint32_t>(model_.size() + 1));
    }
    [[nodiscard]] auto place(std::size_t index) {
        return model_.begin() + static_cast<std::ptrdiff_t>(index);
    }

    void push_back() {
        const std::uint32_t number = random().below(1'000'000);
        const auto made = vector_.push_back(make_element<T>(number));
        if (!is_served(made.status())) return;
        ASSERT_EQ(*made, &vector_.back());
        model_.push_back(make_element<T>(number));
    }
    void insert() {
        const std::uint32_t number = random().below(1'000'000);
        const std::size_t index = random_index();
        const auto made = vector_.insert(vector_.begin() + index, make_element<T>(number));
        if (!is_served(made.status())) return;
        ASSERT_EQ(*made, vector_.begin() + index);
        model_.insert(place(index), make_element<T>(number));
    }
    void erase_range() {
        const std::size_t index = random_index();
        const std::size_t end = std::min(model_.size(), index + random().below(5));
        const auto after = vector_.erase(vector_.begin() + index, vector_.begin() + end);
        ASSERT_EQ(after, vector_.begin() + index);
        model_.erase(place(index), place(end));
    }
    void swap_remove() {
        const std::size_t index = random_index();
        if (index == model_.size()) return;
        vector_.swap_remove(index);
        if (index + 1 != model_.size()) model_[index] = std::move(model_.back());
        model_.pop_back();
    }
    void resize(std::size_t count) {
        if (is_served(vector_.resize(count))) model_.resize(count);
    }
    void shrink() {
        if (is_served(vector_.shrink_to_fit())) {
            ASSERT_GE(vector_.capacity(), model_.size());
        }
    }
    void reserve() {
        const std::size_t count = random_size();
        if (is_served(vector_.reserve(count))) {
            ASSERT_GE(vector_.capacity(), count);
        }
    }
    void append_own() {
        if constexpr (std::copy_constructible<T>) {
            const std::size_t index = random_index();
            const std::size_t count = std::min(model_.size() - index, std::size_t{random().below(20)});
            if (!is_served(vector_.append(std::as_const(vector_).span().subspan(index, count)))) return;
            const std::vector<T> copies(place(index), place(index + count));
            model_.insert(model_.end(), copies.begin(), copies.end());
        }
    }
    void clone() {
        if constexpr (std::copy_constructible<T>) {
            auto copy = vector_.clone();
            if (!is_served(copy.status())) return;
            ASSERT_TRUE(*copy == vector_);
            vector_ = *std::move(copy);
        }
    }
    void move_away_and_back() {
        PooledVector<T> other(std::move(vector_));
        ASSERT_EQ(vector_.capacity(), 0U);
        vector_.swap(other);
        if (random().chance(0.1)) {
            vector_.release();
            model_.clear();
        }
    }

    PooledVector<T> vector_;
    std::vector<T> model_;
};

}  // namespace ouro::testing_support
