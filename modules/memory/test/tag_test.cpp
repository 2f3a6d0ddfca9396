#include <ouro/memory/tag.hpp>

#include <string>

#include <gtest/gtest.h>

namespace {

using ouro::find_tag;
using ouro::is_tag_within;
using ouro::register_tag;
using ouro::Status;
using ouro::Tag;

TEST(Tag, NamesAreRegisteredOnce) {
    const auto first = register_tag("tag test: audio");
    const auto again = register_tag("tag test: audio");
    ASSERT_TRUE(first && again);
    EXPECT_EQ(*first, *again);
    EXPECT_NE(first->id(), 0U);
    EXPECT_EQ(ouro::tag_name(*first), "tag test: audio");
    EXPECT_EQ(find_tag("tag test: audio").value(), *first);
    EXPECT_LT(first->id(), ouro::tag_count());
}

TEST(Tag, ParentsMakeATree) {
    const auto game = register_tag("tag test: game");
    ASSERT_TRUE(game);
    const auto creatures = register_tag("tag test: creatures", *game);
    ASSERT_TRUE(creatures);
    const auto memories = register_tag("tag test: memories", *creatures);
    ASSERT_TRUE(memories);
    EXPECT_EQ(ouro::tag_parent(*memories), *creatures);
    EXPECT_EQ(ouro::tag_parent(*game), Tag());
    EXPECT_TRUE(is_tag_within(*memories, *game));
    EXPECT_TRUE(is_tag_within(*memories, *memories));
    EXPECT_TRUE(is_tag_within(*memories, Tag()));
    EXPECT_FALSE(is_tag_within(*game, *memories));
    EXPECT_FALSE(is_tag_within(Tag(), *game));
    EXPECT_LT(game->id(), creatures->id());
    EXPECT_LT(creatures->id(), memories->id());
}

TEST(Tag, SenselessOnesAreRefused) {
    EXPECT_EQ(register_tag("").status(), Status::bad_argument);
    EXPECT_EQ(register_tag("untagged").status(), Status::bad_argument);
    EXPECT_EQ(register_tag(std::string(ouro::kMaxTagNameBytes + 1, 'x')).status(), Status::bad_argument);
    EXPECT_TRUE(register_tag(std::string(ouro::kMaxTagNameBytes, 'x')));
    EXPECT_EQ(register_tag("tag test: orphan", Tag::from_id(0xFFFF)).status(), Status::bad_argument);
    EXPECT_EQ(find_tag("tag test: orphan").status(), Status::not_found);
    const auto one = register_tag("tag test: one");
    ASSERT_TRUE(one);
    ASSERT_TRUE(register_tag("tag test: child", *one));
    EXPECT_EQ(register_tag("tag test: child").status(), Status::bad_argument);
}

TEST(Tag, UnknownIdsReadAsUntagged) {
    EXPECT_EQ(ouro::tag_name(Tag()), "untagged");
    EXPECT_EQ(ouro::tag_name(Tag::from_id(0xFFFF)), "untagged");
    EXPECT_EQ(ouro::tag_parent(Tag::from_id(0xFFFF)), Tag());
}

TEST(Tag, TheNameIsCopied) {
    std::string name = "tag test: copied";
    const auto tag = register_tag(name);
    ASSERT_TRUE(tag);
    name.assign(name.size(), '?');
    EXPECT_EQ(ouro::tag_name(*tag), "tag test: copied");
}

TEST(Tag, AnotherOneStandsInForNone) {
    const Tag own = *register_tag("a tag of its own");
    EXPECT_EQ(ouro::tag_or(own, "one that stands in"), own);
    EXPECT_FALSE(ouro::find_tag("one that stands in"));
    const Tag other = ouro::tag_or({}, "one that stands in");
    EXPECT_EQ(ouro::tag_name(other), "one that stands in");
    EXPECT_TRUE(ouro::tag_parent(other).is_untagged());
    // Wherever the program has put it.
    const Tag below = *register_tag("one that stands below", own);
    EXPECT_EQ(ouro::tag_or({}, "one that stands below"), below);
    EXPECT_TRUE(ouro::tag_or({}, "").is_untagged());
}

}  // namespace
