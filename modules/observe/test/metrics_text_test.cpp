#include "charges.hpp"
#include "fresh_tags.hpp"

#include <ouro/observe/budget.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/metrics.hpp>

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ouro {
namespace {

using nlohmann::json;
using test::fresh_tag;

void append(void* text, std::string_view bytes) {
    static_cast<std::string*>(text)->append(bytes);
}

std::string as_json(const MetricsSnapshot& metrics, const MetricsSnapshot* before = nullptr) {
    std::string text;
    write_metrics_json({.write = append, .context = &text}, metrics, before);
    return text;
}

std::string as_text(const MetricsSnapshot& metrics, const MetricsSnapshot* before = nullptr) {
    std::string text;
    write_metrics_text({.write = append, .context = &text}, metrics, before);
    return text;
}

void tell(void*, MetricWriter& writer) noexcept {
    static std::uint64_t calls = 0;
    ++calls;
    writer.add_level("length", 42, MetricUnit::bytes);
    writer.add_total("calls \"quoted\\\n", calls * 1'000);
    writer.add_share_of_totals("hits", calls, 4 * calls);
    writer.add_share("odd \xff\xc3\xa4\xe2\x82", 1, 2);
    writer.add_total("busy", 2'500'000, MetricUnit::nanoseconds);
}

class MetricsTextTest : public testing::Test {
protected:
    void SetUp() override {
        const auto id = add_metric_source("teller", tell);
        ASSERT_TRUE(id);
        id_ = *id;
        tag_ = fresh_tag();
        ASSERT_TRUE(set_budget(tag_, {.hard_bytes = 1 << 20}));
        take_metrics(*before_);
        ASSERT_EQ(test::charge(tag_, 3 << 10), Status::ok);
        take_metrics(*after_);
        before_->time_ns = 0;
        after_->time_ns = 2'000'000'000;
    }
    void TearDown() override {
        test::refund(tag_, 3 << 10);
        EXPECT_TRUE(remove_metric_source(id_));
    }

    Tag tag_;
    MetricSourceId id_;
    std::unique_ptr<MetricsSnapshot> before_ = std::make_unique<MetricsSnapshot>();
    std::unique_ptr<MetricsSnapshot> after_ = std::make_unique<MetricsSnapshot>();
};

TEST_F(MetricsTextTest, JsonIsReadBackAsItWas) {
    const json all = json::parse(as_json(*after_, before_.get()));
    EXPECT_EQ(all["time_ns"], 2'000'000'000U);
    EXPECT_EQ(all["since_ns"], 0U);
    EXPECT_EQ(all["known_bytes"], after_->known_bytes());
    EXPECT_EQ(all["untracked_bytes"], after_->untracked_bytes());
    EXPECT_EQ(all["process"]["resident_bytes"], after_->process.resident_bytes);
    EXPECT_EQ(all["blocks"]["committed_bytes"], after_->blocks.committed_bytes);
    EXPECT_EQ(all["observe_used_bytes"], after_->observe_cost.used_bytes);
    ASSERT_EQ(all["tags"].size(), after_->tag_count);
    const json& tag = all["tags"][tag_.id()];
    EXPECT_EQ(tag["name"], tag_name(tag_));
    EXPECT_EQ(tag["parent"], 0);
    EXPECT_EQ(tag["live_bytes"], 3'072);
    EXPECT_EQ(tag["hard_bytes"], 1 << 20);
    EXPECT_TRUE(tag["soft_bytes"].is_null());
    EXPECT_DOUBLE_EQ(tag["allocated_bytes_per_second"].get<double>(), 1'536);
    EXPECT_DOUBLE_EQ(tag["allocations_per_second"].get<double>(), 0.5);
    EXPECT_FALSE(all["tags"][0].contains("parent"));
    const json& values = all["sources"][0]["values"];
    ASSERT_EQ(values.size(), 5U);
    EXPECT_EQ(values[0]["value"], 42);
    EXPECT_EQ(values[0]["unit"], "bytes");
    EXPECT_EQ(values[1]["key"], "calls \"quoted\\\n");
    EXPECT_DOUBLE_EQ(values[1]["per_second"].get<double>(), 500);
    EXPECT_DOUBLE_EQ(values[2]["share"].get<double>(), 0.25);
    EXPECT_DOUBLE_EQ(values[2]["share_since"].get<double>(), 0.25);
    EXPECT_EQ(values[3]["key"], "odd ?\xc3\xa4??");
}

TEST_F(MetricsTextTest, JsonWithoutASecondSnapshotHasNoRates) {
    const json all = json::parse(as_json(*after_));
    EXPECT_FALSE(all.contains("since_ns"));
    EXPECT_FALSE(all["tags"][tag_.id()].contains("allocations_per_second"));
    EXPECT_FALSE(all["sources"][0]["values"][1].contains("per_second"));
}

TEST_F(MetricsTextTest, WhatTheSystemDoesNotSayIsNull) {
    after_->process_status = Status::permission_denied;
    const json all = json::parse(as_json(*after_));
    EXPECT_TRUE(all["process"].is_null());
    EXPECT_TRUE(all["untracked_bytes"].is_null());
    EXPECT_NE(as_text(*after_).find("unknown: permission_denied"), std::string::npos);
}

TEST_F(MetricsTextTest, TextIsForPeople) {
    const std::string text = as_text(*after_, before_.get());
    EXPECT_NE(text.find("untracked  "), std::string::npos);
    const std::string name(tag_name(tag_));
    EXPECT_NE(text.find("  " + name + ": live 3.0 KiB of 1.0 MiB, peak 3.0 KiB, 1 blocks, " +
                        "0.500 allocations/s, 1.5 KiB/s\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("    hits 25.000 %, lately 25.000 %\n"), std::string::npos) << text;
    EXPECT_NE(text.find("    busy 2.500 ms, 0.000/s\n"), std::string::npos) << text;
    after_->process_status = Status::ok;
    after_->process.resident_bytes = 0;
    EXPECT_NE(as_text(*after_).find("untracked  -"), std::string::npos);
}

TEST_F(MetricsTextTest, APeakThatMayBeTooHighIsABound) {
    after_->tags[tag_.id()].use.is_peak_exact = false;
    EXPECT_NE(
        as_text(*after_).find(std::string(tag_name(tag_)) + ": live 3.0 KiB of 1.0 MiB, peak <= 3.0 KiB,"),
        std::string::npos);
}

}  // namespace
}  // namespace ouro
