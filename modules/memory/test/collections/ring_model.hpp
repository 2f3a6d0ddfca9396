#pragma once

#include "collection_model.hpp"

#include <ouro/memory/collections/ring_buffer.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

namespace ouro::testing_support {

// RingBuffer beside std::deque.
template <class T>
class RingModel final : public CollectionModel {
public:
    RingModel(MemoryResource& resource, std::uint64_t seed) : CollectionModel(seed), resource_(resource) {
        create(1 + random_size());
    }
    RingModel(MemoryResource& resource, std::size_t capacity, std::uint64_t seed)
        : CollectionModel(seed), resource_(resource) {
        create(capacity);
    }

    void step() override {
        if (!ring_) return create(1 + random_size());
        switch (random().below(9)) {
            case 0:
            case 1:
                return push_back();
            case 2:
                return push_front();
            case 3:
                return push_back_overwriting();
            case 4:
                return push_front_overwriting();
            case 5:
                return pop(ring_->pop_front(), true);
            case 6:
                return pop(ring_->pop_back(), false);
            case 7:
                return move_away_and_back();
            default:
                return drop(random().below(4));
        }
    }

    void verify() override {
        if (!ring_) return;
        const auto same = [](const T& one, std::uint32_t other) { return is_element(one, other); };
        const auto parts = ring_->parts();
        ASSERT_EQ(ring_->size(), model_.size());
        ASSERT_EQ(parts.first.size() + parts.second.size(), model_.size());
        const auto middle = model_.begin() + static_cast<std::ptrdiff_t>(parts.first.size());
        ASSERT_TRUE(std::ranges::equal(*ring_, model_, same));
        ASSERT_TRUE(std::equal(parts.first.begin(), parts.first.end(), model_.begin(), same));
        ASSERT_TRUE(std::equal(parts.second.begin(), parts.second.end(), middle, same));
    }

private:
    [[nodiscard]] bool is_full() const { return model_.size() == ring_->capacity(); }
    [[nodiscard]] std::uint32_t random_number() { return random().below(1'000'000); }
    [[nodiscard]] Status status_of_a_push() const {
        return is_full() ? Status::capacity_exhausted : Status::ok;
    }

    void create(std::size_t capacity) {
        auto made = RingBuffer<T>::create(resource_, capacity);
        if (!is_served(made.status())) return;
        ASSERT_EQ(made->capacity(), capacity);
        ring_.emplace(*std::move(made));
    }
    void push_back() {
        const std::uint32_t number = random_number();
        const Status expected = status_of_a_push();
        ASSERT_EQ(ring_->push_back(make_element<T>(number)).status(), expected);
        if (expected == Status::ok) model_.push_back(number);
    }
    void push_front() {
        const std::uint32_t number = random_number();
        const Status expected = status_of_a_push();
        ASSERT_EQ(ring_->push_front(make_element<T>(number)).status(), expected);
        if (expected == Status::ok) model_.push_front(number);
    }
    void push_back_overwriting() {
        const std::uint32_t number = random_number();
        if (is_full()) model_.pop_front();
        ASSERT_TRUE(is_element(ring_->push_back_overwriting(make_element<T>(number)), number));
        model_.push_back(number);
    }
    void push_front_overwriting() {
        const std::uint32_t number = random_number();
        if (is_full()) model_.pop_back();
        ASSERT_TRUE(is_element(ring_->push_front_overwriting(make_element<T>(number)), number));
        model_.push_front(number);
    }
    void pop(Expected<T> value, bool from_front) {
        ASSERT_EQ(value.status(), model_.empty() ? Status::not_found : Status::ok);
        if (model_.empty()) return;
        ASSERT_TRUE(is_element(*value, from_front ? model_.front() : model_.back()));
        if (from_front) {
            model_.pop_front();
        } else {
            model_.pop_back();
        }
    }
    void drop(std::uint32_t count) {
        const std::size_t expected = std::min<std::size_t>(count, model_.size());
        const auto end = static_cast<std::ptrdiff_t>(expected);
        if (random().chance(0.5)) {
            ASSERT_EQ(ring_->drop_front(count), expected);
            model_.erase(model_.begin(), model_.begin() + end);
        } else {
            ASSERT_EQ(ring_->drop_back(count), expected);
            model_.erase(model_.end() - end, model_.end());
        }
    }
    void move_away_and_back() {
        RingBuffer<T> other(std::move(*ring_));
        ASSERT_EQ(ring_->capacity(), 0U);
        *ring_ = std::move(other);
        if (random().chance(0.05)) {
            ring_->clear();
            model_.clear();
        }
    }

    MemoryResource& resource_;
    // None while the resource refuses.
    std::optional<RingBuffer<T>> ring_;
    std::deque<std::uint32_t> model_;
};

}  // namespace ouro::testing_support
