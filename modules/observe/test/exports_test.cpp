#include "fresh_tags.hpp"
#include "pprof_decoder.hpp"
#include "profile_support.hpp"

#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/exports.hpp>
#include <ouro/observe/timeline.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ouro {
namespace {

using test::DecodedMessage;
using test::fresh_tag;
using test::Profiling;

ByteSink sink_of(std::string& text) {
    return {[](void* context, std::string_view bytes) { static_cast<std::string*>(context)->append(bytes); },
            &text};
}

void name_by_number(void*, std::uint64_t address, std::span<char> name) {
    std::snprintf(name.data(), name.size(), "f%llx;\n x", static_cast<unsigned long long>(address));
}

class ExportsTest : public testing::Test {
protected:
    [[gnu::noinline]] MemoryBlock allocate_here(std::size_t size) {
        const auto block = memory_.allocate(size);
        EXPECT_TRUE(block);
        return *block;
    }

    std::string numbered(std::string text) const { return text.append(std::to_string(parent_.id())); }

    Tag parent_ = fresh_tag();
    // With what needs care in texts.
    std::string name_ = numbered("odd \"name\\ \x01\xff\xc3\xa4 of #");
    Tag tag_ = *register_tag(name_, parent_);
    SmallObjectAllocator heap_ = *SmallObjectAllocator::create({});
    ChargedAllocator<SmallObjectAllocator> memory_{heap_, tag_};
};

TEST_F(ExportsTest, AFoldedLineHasTagsStackAndBytes) {
    const Profiling profiling({.mean_bytes = 1, .seed = 1});
    const MemoryBlock block = allocate_here(1'000);
    std::string text;
    write_folded_stacks(sink_of(text));
    ASSERT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    std::string tags("[");
    tags.append(tag_name(parent_)).append("];[odd ");
    EXPECT_EQ(text.rfind(tags, 0), 0U) << text;
    EXPECT_EQ(text.find(" 1000\n"), text.size() - 6) << text;
    EXPECT_NE(text.find(";observe_test+0x"), std::string::npos) << text;

    std::string named;
    write_folded_stacks(sink_of(named), SiteOrder::allocated, {.describe = name_by_number});
    const SiteProfile site = read_site(1);
    ASSERT_GT(site.frame_count, 1U);
    EXPECT_EQ(static_cast<std::size_t>(std::count(named.begin(), named.end(), ';')), site.frame_count + 1);
    char innermost[64];
    std::snprintf(innermost, sizeof innermost, ";f%llx:: x 1000\n",
                  static_cast<unsigned long long>(site.frames[0] - 1));
    EXPECT_NE(named.find(innermost), std::string::npos) << named << innermost;

    std::string none;
    write_folded_stacks(sink_of(none), SiteOrder::temporary);
    EXPECT_EQ(none, "");
    memory_.deallocate(block);
}

// Every reference leads somewhere, every number is used once.
void expect_sound(const DecodedMessage& profile) {
    const auto strings = profile.parts(6);
    ASSERT_FALSE(strings.empty());
    EXPECT_EQ(strings[0], "");
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> mappings{{0, {0, ~std::uint64_t{0}}}};
    for (const DecodedMessage& mapping : profile.messages(3)) {
        EXPECT_TRUE(
            mappings.emplace(mapping.number(1), std::pair(mapping.number(2), mapping.number(3))).second);
        EXPECT_LT(mapping.number(2), mapping.number(3));
        EXPECT_LT(mapping.number(5), strings.size());
    }
    std::set<std::uint64_t> functions;
    for (const DecodedMessage& function : profile.messages(5)) {
        EXPECT_TRUE(functions.insert(function.number(1)).second);
        ASSERT_LT(function.number(2), strings.size());
        EXPECT_NE(strings[function.number(2)], "");
    }
    std::set<std::uint64_t> locations;
    for (const DecodedMessage& location : profile.messages(4)) {
        EXPECT_NE(location.number(1), 0U);
        EXPECT_TRUE(locations.insert(location.number(1)).second);
        ASSERT_EQ(mappings.count(location.number(2)), 1U);
        const auto [begin, end] = mappings[location.number(2)];
        EXPECT_GE(location.number(3), begin);
        EXPECT_LT(location.number(3), end);
        ASSERT_EQ(location.messages(4).size(), 1U);
        EXPECT_EQ(functions.count(location.messages(4)[0].number(1)), 1U);
    }
    const std::size_t values = profile.messages(1).size();
    for (const DecodedMessage& sample : profile.messages(2)) {
        EXPECT_EQ(sample.packed(2).size(), values);
        for (const std::uint64_t location : sample.packed(1))
            EXPECT_EQ(locations.count(location), 1U);
    }
}

TEST_F(ExportsTest, PprofHasFourValuesASampleAndItsTag) {
    const Profiling profiling({.mean_bytes = 1, .seed = 1});
    const MemoryBlock block = allocate_here(1'000);
    memory_.deallocate(allocate_here(500));
    std::string bytes;
    write_pprof(sink_of(bytes));
    const DecodedMessage profile(bytes);
    expect_sound(profile);
    const auto strings = profile.parts(6);
    std::vector<std::string> types;
    for (const DecodedMessage& type : profile.messages(1))
        types.push_back(
            std::string(strings.at(type.number(1))).append("/").append(strings.at(type.number(2))));
    const std::vector<std::string> expected{"inuse_objects/count", "inuse_space/bytes", "alloc_objects/count",
                                            "alloc_space/bytes"};
    EXPECT_EQ(types, expected);
    std::vector<std::uint64_t> sums(4);
    for (const DecodedMessage& sample : profile.messages(2)) {
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += sample.packed(2).at(i);
        EXPECT_GT(sample.packed(1).size(), 1U);
        ASSERT_EQ(sample.messages(3).size(), 1U);
        EXPECT_EQ(strings.at(sample.messages(3)[0].number(1)), "tag");
        EXPECT_EQ(strings.at(sample.messages(3)[0].number(2)), tag_name(tag_));
    }
    EXPECT_EQ(sums, (std::vector<std::uint64_t>{1, 1'000, 2, 1'500}));
    EXPECT_EQ(profile.number(12), 1U);
    EXPECT_GT(profile.number(10), 0U);
    EXPECT_EQ(strings.at(profile.number(14)), "inuse_space");
    memory_.deallocate(block);
}

TEST_F(ExportsTest, PprofOfManySitesIsSound) {
    const Profiling profiling({.mean_bytes = 1, .seed = 1});
    for (int i = 0; i < 40; ++i) {
        ChargedAllocator memory(heap_, i == 0 ? tag_ : fresh_tag(tag_));
        memory.deallocate(*memory.allocate(100 + static_cast<std::size_t>(i)));
    }
    std::string bytes;
    write_pprof(sink_of(bytes), {.describe = name_by_number});
    expect_sound(DecodedMessage(bytes));
    EXPECT_GE(DecodedMessage(bytes).messages(2).size(), 40U);
}

using Json = nlohmann::json;

std::vector<Json> events_named(const Json& trace, const std::string& name) {
    std::vector<Json> found;
    for (const Json& event : trace.at("traceEvents")) {
        if (event.at("name") == name) found.push_back(event);
    }
    return found;
}

TEST_F(ExportsTest, AChromeTraceHasTracksAndInstants) {
    look_at_timeline();
    constexpr std::size_t kBytes = std::size_t{1} << 20;
    const MemoryBlock block = allocate_here(kBytes);
    look_at_timeline();
    post_event({.kind = ObserveEventKind::spike, .tag = tag_, .bytes = 12'345, .limit_bytes = 6});
    std::string text;
    write_chrome_trace(sink_of(text));
    const Json trace = Json::parse(text);
    const auto live = events_named(trace, "live (bytes)");
    ASSERT_GE(live.size(), 2U);
    for (const Json& event : live) {
        EXPECT_EQ(event.at("ph"), "C");
        EXPECT_TRUE(event.at("ts").is_number());
        EXPECT_EQ(event.at("pid"), live[0].at("pid"));
    }
    EXPECT_LE(live[live.size() - 2].at("ts"), live.back().at("ts"));
    EXPECT_EQ(live.back().at("args").at("value").get<std::uint64_t>() -
                  live[live.size() - 2].at("args").at("value").get<std::uint64_t>(),
              kBytes);
    // What is no text became some; all of it is there for each moment.
    const std::string shown = numbered("odd \"name\\ \x01?\xc3\xa4 of #");
    const auto by_tag = events_named(trace, "live by tag (bytes)");
    ASSERT_EQ(by_tag.size(), live.size());
    EXPECT_EQ(by_tag.back().at("args").at(shown), kBytes);
    EXPECT_EQ(by_tag[by_tag.size() - 2].at("args").at(shown), 0);
    EXPECT_EQ(events_named(trace, "resident (bytes)").size(), live.size());
    EXPECT_EQ(events_named(trace, "listed blocks (bytes)").size(), live.size());
    EXPECT_EQ(events_named(trace, "allocated (bytes/s)").size(), live.size() - 1);
    const auto spikes = events_named(trace, "spike");
    ASSERT_FALSE(spikes.empty());
    EXPECT_EQ(spikes.back().at("ph"), "i");
    EXPECT_EQ(spikes.back().at("args").at("tag"), shown);
    EXPECT_EQ(spikes.back().at("args").at("bytes"), 12'345);
    memory_.deallocate(block);
}

// More tags than a moment tells of: nothing falls to zero only because others are larger.
TEST_F(ExportsTest, ATraceHasNoFalseZeros) {
    constexpr std::size_t kTags = detail::kTimelineTags + 2;
    std::vector<Tag> tags;
    std::vector<MemoryBlock> blocks;
    const auto take = [&](Tag tag, std::size_t bytes) {
        blocks.push_back(*ChargedAllocator(heap_, tag).allocate(bytes));
    };
    for (std::size_t i = 0; i < kTags; ++i) {
        tags.push_back(fresh_tag());
        take(tags.back(), (std::size_t{1} << 20) - i * 1'000);
    }
    look_at_timeline();
    // The two that were not told of become the largest.
    take(tags[kTags - 1], std::size_t{1} << 20);
    take(tags[kTags - 2], std::size_t{1} << 20);
    look_at_timeline();
    look_at_timeline();
    std::string text;
    write_chrome_trace(sink_of(text));
    const auto by_tag = events_named(Json::parse(text), "live by tag (bytes)");
    ASSERT_GE(by_tag.size(), 3U);
    for (std::size_t back = 1; back <= 3; ++back) {
        const Json& shown = by_tag[by_tag.size() - back].at("args");
        for (const Tag tag : tags) {
            const std::string name(tag_name(tag));
            if (shown.contains(name)) {
                EXPECT_GT(shown.at(name), 1'000'000) << name << " " << back;
            } else {
                EXPECT_EQ(back, 3U) << name;
            }
        }
    }
    for (const MemoryBlock block : blocks)
        ChargedAllocator(heap_).deallocate(block);
}

TEST_F(ExportsTest, TheTopSitesAsText) {
    const Profiling profiling({.mean_bytes = 1, .seed = 1});
    const MemoryBlock large = allocate_here(2'000);
    ChargedAllocator other(heap_, parent_);
    const auto small = other.allocate(10);
    std::string text;
    write_top_sites(sink_of(text), SiteOrder::live, 1);
    EXPECT_NE(text.find("by live bytes, estimated from 2 samples"), std::string::npos) << text;
    EXPECT_NE(text.find("1. live 2000 B in 1, allocated 2000 B in 1"), std::string::npos) << text;
    EXPECT_EQ(text.find("2. "), std::string::npos) << text;
    EXPECT_NE(text.find("    observe_test+0x"), std::string::npos) << text;
    memory_.deallocate(large);
    other.deallocate(*small);
}

}  // namespace
}  // namespace ouro
