#pragma once

#include "charges.hpp"
#include "fresh_tags.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/ledger.hpp>
#include <ouro/observe/pressure.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace ouro::test {

inline std::uint64_t g_pressure_now = 0;
inline std::uint64_t pressure_clock() noexcept {
    return g_pressure_now;
}

inline MachineMemory read_from(void* machine) noexcept {
    return *static_cast<const MachineMemory*>(machine);
}

// Bytes of a tag that it gives back when asked.
class Cache final : public PressureHandler {
public:
    explicit Cache(Tag tag) noexcept : tag_(tag) {}
    ~Cache() { give_back(held_); }

    void fill(std::size_t bytes) {
        ASSERT_EQ(test::charge(tag_, bytes), Status::ok);
        held_ += bytes;
    }
    std::size_t give_back(std::size_t bytes) noexcept {
        bytes = std::min(bytes, held_);
        if (bytes != 0) bytes == held_ ? test::refund(tag_, bytes) : detail::refund_shrinkage(tag_, bytes);
        held_ -= bytes;
        return bytes;
    }
    std::size_t relieve(PressureLevel level, std::size_t bytes_wanted) noexcept override {
        levels.push_back(level);
        wanted.push_back(bytes_wanted);
        if (level < from) return 0;
        const std::size_t freed = give_back(std::min(bytes_wanted, most));
        return says == 0 ? freed : says;
    }
    [[nodiscard]] std::size_t held() const noexcept { return held_; }

    // Frees nothing below this level, and no more than so much at once; says this, if anything.
    PressureLevel from = PressureLevel::none;
    std::size_t most = ~std::size_t{0};
    std::size_t says = 0;
    std::vector<PressureLevel> levels;
    std::vector<std::size_t> wanted;

private:
    Tag tag_;
    std::size_t held_ = 0;
};

// A budget of a tag of its own, a monitor with a clock that stands still, and no machine.
class PressureTest : public testing::Test {
protected:
    static constexpr std::size_t kBudget = 1'000'000;

    void SetUp() override {
        g_pressure_now = 1'000'000'000;
        ASSERT_TRUE(set_budget(tag_, {.hard_bytes = kBudget}));
        options_.tag = tag_;
        options_.watches_machine = false;
        options_.clock = pressure_clock;
        ASSERT_TRUE(monitor_.configure(options_));
    }
    // The tag's use without a cache.
    void use(std::size_t bytes) {
        if (bytes > used_) {
            ASSERT_EQ(test::charge(tag_, bytes - used_), Status::ok);
        } else if (bytes < used_) {
            test::refund(tag_, used_ - bytes);
        }
        used_ = bytes;
    }
    PressureLevel level_at(std::size_t bytes) {
        use(bytes);
        return monitor_.poll().level;
    }
    static void pass_ns(std::uint64_t ns) { g_pressure_now += ns; }
    void TearDown() override { use(0); }

    Tag tag_ = fresh_tag();
    PressureOptions options_;
    PressureMonitor monitor_;
    std::size_t used_ = 0;
};

}  // namespace ouro::test
