#pragma once

#include "collection_model.hpp"

#include <ouro/memory/collections/compressed_sparse_array.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

namespace ouro::testing_support {

// CompressedSparseArray beside std::map.
template <class T, std::size_t ChunkValues>
class SparseModel final : public CollectionModel {
public:
    SparseModel(MemoryResource& resource, std::size_t max_raw_chunks, std::uint64_t seed)
        : CollectionModel(seed), resource_(resource), max_raw_chunks_(max_raw_chunks) {
        create();
    }

    void step() override {
        if (!array_) return create();
        const std::uint32_t choice = random().below(1000);
        if (choice < 500) {
            set();
        } else if (choice < 750) {
            get();
        } else if (choice < 970) {
            erase();
        } else if (choice < 998) {
            (void)is_served((choice % 3 == 0 ? array_->compress_all() : array_->compress_cold()).status());
        } else {
            move_away_and_back();
        }
        ASSERT_LE(array_->stats().raw_chunks, max_raw_chunks_);
    }

    void verify() override {
        if (!array_) return;
        ASSERT_EQ(array_->check(), Status::ok);
        ASSERT_EQ(array_->size(), model_.size());
        auto expected = model_.begin();
        bool same = true;
        const Status walked = array_->for_each([&](std::uint32_t index, const T& value) {
            same = same && expected != model_.end() && expected->first == index &&
                   is_element(value, expected->second);
            if (same) ++expected;
        });
        ASSERT_EQ(walked, Status::ok);
        ASSERT_TRUE(same && expected == model_.end());
        ASSERT_TRUE(std::ranges::equal(array_->indices(), std::views::keys(model_)));
    }

private:
    using Array = CompressedSparseArray<T, ChunkValues>;

    void create() {
        auto made = Array::create(resource_, {.max_raw_chunks = max_raw_chunks_});
        if (is_served(made.status())) array_.emplace(*std::move(made));
    }
    // Clustered, as entities are, with the ends of the index space among them.
    [[nodiscard]] std::uint32_t random_index() {
        const std::uint32_t cluster = random().below(12);
        if (cluster == 0) return 0xFFFFFFFF - random().below(3);
        return cluster * 1'000'003 + random().below(600);
    }
    void set() {
        const std::uint32_t index = random_index();
        const std::uint32_t number = random().below(1'000'000);
        if (is_served(array_->set(index, make_element<T>(number)))) model_[index] = number;
    }
    void get() {
        const std::uint32_t index = random_index();
        const auto known = model_.find(index);
        const auto value = array_->get(index);
        if (known == model_.end()) {
            ASSERT_EQ(value.status(), Status::not_found);
        } else if (is_served(value.status())) {
            ASSERT_TRUE(is_element(*value, known->second));
        }
    }
    void erase() {
        const std::uint32_t index = random_index();
        const bool known = model_.contains(index);
        ASSERT_EQ(array_->contains(index), known);
        const Status erased = array_->erase(index);
        if (!known) {
            ASSERT_EQ(erased, Status::not_found);
        } else if (is_served(erased)) {
            model_.erase(index);
        }
    }
    void move_away_and_back() {
        Array other(std::move(*array_));
        *array_ = std::move(other);
        if (random().chance(0.2)) {
            array_->clear();
            model_.clear();
        }
    }

    MemoryResource& resource_;
    std::size_t max_raw_chunks_;
    // None while the resource refuses.
    std::optional<Array> array_;
    std::map<std::uint32_t, std::uint32_t> model_;
};

}  // namespace ouro::testing_support
