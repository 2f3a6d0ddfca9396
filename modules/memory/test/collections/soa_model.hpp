#pragma once

#include "collection_model.hpp"

#include <ouro/base/align.hpp>
#include <ouro/memory/collections/soa_block.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace ouro::testing_support {

// SoaBlock beside a vector of numbers, from each of which all columns of a row follow.
template <class... Ts>
class SoaModel final : public CollectionModel {
public:
    SoaModel(MemoryResource& resource, std::uint64_t seed) : CollectionModel(seed), block_(resource) {}

    void step() override {
        const std::uint32_t choice = random().below(20);
        if (choice < 11) return emplace();
        if (choice < 15) return swap_remove();
        if (choice < 17) return resize();
        if (choice == 17) return reserve();
        if (choice == 18) return shrink();
        move_away_and_back();
    }

    void verify() override {
        ASSERT_EQ(block_.size(), model_.size());
        ASSERT_NO_FATAL_FAILURE(verify_layout());
        std::size_t row = 0;
        for (const auto& values : block_) {
            const std::uint32_t number = model_[row];
            ASSERT_TRUE(
                std::apply([&](const auto&... each) { return (is_element(each, number) && ...); }, values))
                << "row " << row;
            ++row;
        }
        ASSERT_EQ(row, model_.size());
    }

private:
    using Block = SoaBlock<Ts...>;

    void emplace() {
        const std::uint32_t number = random().below(1'000'000);
        const auto row = block_.emplace(make_element<Ts>(number)...);
        if (!is_served(row.status())) return;
        ASSERT_EQ(*row, model_.size());
        model_.push_back(number);
    }
    void swap_remove() {
        if (model_.empty()) return;
        const std::size_t row = random().below(static_cast<std::uint32_t>(model_.size()));
        block_.swap_remove(row);
        model_[row] = model_.back();
        model_.pop_back();
    }
    void resize() {
        const std::size_t rows = random_size();
        if (is_served(block_.resize(rows))) model_.resize(rows);
    }
    void reserve() {
        const std::size_t rows = random_size();
        if (is_served(block_.reserve(rows))) {
            ASSERT_GE(block_.capacity(), rows);
        }
    }
    void shrink() {
        if (is_served(block_.shrink_to_fit())) {
            ASSERT_LT(block_.capacity(), model_.size() + Block::kRowStep);
        }
    }
    void move_away_and_back() {
        Block other(std::move(block_));
        ASSERT_EQ(block_.capacity(), 0U);
        block_ = std::move(other);
        if (random().chance(0.05)) {
            block_.release();
            model_.clear();
        }
    }

    // Columns start on vectors and are whole ones, within the block, without a byte nobody wrote.
    void verify_layout() {
        ASSERT_GE(block_.padded_size(), block_.size());
        ASSERT_LT(block_.padded_size(), block_.size() + Block::kRowStep);
        ASSERT_LE(block_.padded_size(), block_.capacity());
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (verify_column<I>(), ...);
        }(std::index_sequence_for<Ts...>{});
    }
    template <std::size_t I>
    void verify_column() {
        const auto column = block_.template column<I>();
        ASSERT_TRUE(is_aligned(column.data(), kSimdBytes));
        if constexpr (std::is_trivially_copyable_v<typename Block::template Column<I>>) {
            const auto padded = block_.template padded_column<I>();
            ASSERT_EQ(padded.size_bytes() % kSimdBytes, 0U);
            const auto* const first = reinterpret_cast<const std::byte*>(block_.template column<0>().data());
            const auto* const end = reinterpret_cast<const std::byte*>(padded.data() + padded.size());
            ASSERT_LE(static_cast<std::size_t>(end - first), block_.block_bytes());
        }
    }

    Block block_;
    std::vector<std::uint32_t> model_;
};

}  // namespace ouro::testing_support
