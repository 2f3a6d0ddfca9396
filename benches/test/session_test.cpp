#include "harness/session.hpp"

#include "harness/case.hpp"
#include "harness/suite.hpp"

#include <filesystem>
#include <stdexcept>

#include <gtest/gtest.h>

namespace ouro::bench {
namespace {

Work taking(double ns_per_operation) {
    return [=](Round& round) { round.add_time(ns_per_operation * static_cast<double>(round.operations())); };
}

class SessionTest : public testing::Test {
protected:
    SessionTest() { session_.begin_suite("test"); }

    Progress progress_;
    std::size_t shown_ = 0;
    Session session_{{.rounds = 3, .quick = false, .peers = {}}, progress_, [this](const Row&) { ++shown_; }};
};

TEST_F(SessionTest, OnlyTheCasesAskedForAreMeasured) {
    Session session({.rounds = 1, .quick = false, .peers = {}, .only = "16 B"}, progress_, {});
    bool measured = false;
    session.measure("churn 64 B", kNanoseconds).ours([&](Round&) { measured = true; }).operations(1).run();
    session.measure("lifo 64 B", kNanoseconds).unavailable("no reason");
    EXPECT_FALSE(measured);
    EXPECT_TRUE(session.rows().empty());
    session.measure("churn 16 B", kNanoseconds).ours(taking(2)).operations(1).run();
    EXPECT_EQ(session.rows().size(), 1U);
}

TEST_F(SessionTest, EachPeerGivesARow) {
    session_.measure("work", kMicroseconds)
        .ours(taking(2'000))
        .peer("one", "1.0", taking(4'000))
        .peer("two", "2.0", taking(1'000), ratio_at_most(3))
        .bound("nothing less", taking(500))
        .bar(ratio_at_most(1))
        .note("remark")
        .operations(10)
        .run();
    ASSERT_EQ(session_.rows().size(), 2U);
    EXPECT_EQ(shown_, 2U);
    const Row& one = session_.rows()[0];
    EXPECT_EQ(one.label.suite, "test");
    EXPECT_EQ(one.label.unit, "us");
    EXPECT_DOUBLE_EQ(one.ours.value(), 2);
    EXPECT_DOUBLE_EQ(one.ratio().value(), 0.5);
    EXPECT_DOUBLE_EQ(one.bound.value(), 0.5);
    EXPECT_EQ(one.met(), Met::yes);
    EXPECT_EQ(one.statistic, "min of 3");
    EXPECT_EQ(one.note, "remark");
    EXPECT_EQ(session_.rows()[1].peer_version, "2.0");
    EXPECT_DOUBLE_EQ(session_.rows()[1].bar.value().limit, 3);
}

TEST_F(SessionTest, TheBestPeerIsJudgedAndTheOthersAreMentioned) {
    session_.measure("work", kNanoseconds)
        .ours(taking(2))
        .peer("slow", "1.0", taking(8), ratio_at_most(0.5))
        .peer("fast", "2.0", taking(1))
        .peer("middling", "3.0", taking(4))
        .missing_peer("absent", "install it")
        .bar(ratio_at_most(1))
        .against_the_best({"slow"})
        .operations(1)
        .run();
    ASSERT_EQ(session_.rows().size(), 2U);
    const Row& best = session_.rows()[0];
    EXPECT_EQ(best.peer, "fast");
    EXPECT_EQ(best.met(), Met::no);
    EXPECT_EQ(best.note, "others: slow 1.0 8.00, middling 3.0 4.00; not here: absent");
    const Row& named = session_.rows()[1];
    EXPECT_EQ(named.peer, "slow");
    EXPECT_DOUBLE_EQ(named.bar.value().limit, 0.5);
    EXPECT_EQ(named.met(), Met::yes);
}

TEST_F(SessionTest, ANamedPeerThatIsTheBestIsOneRow) {
    session_.measure("work", kNanoseconds)
        .ours(taking(2))
        .peer("only", "1.0", taking(8))
        .against_the_best({"only"})
        .operations(1)
        .run();
    ASSERT_EQ(session_.rows().size(), 1U);
    EXPECT_EQ(session_.rows()[0].note, "");
}

TEST_F(SessionTest, ABarOfTheBestPeerDoesNotHideThatAboutOurOwnValue) {
    session_.measure("work", kNanoseconds)
        .ours(taking(4))
        .peer("system", "1.0", taking(2), ratio_at_most(1))
        .peer("slow", "2.0", taking(8))
        .bar(value_at_most(5))
        .against_the_best({"system"})
        .operations(1)
        .run();
    ASSERT_EQ(session_.rows().size(), 2U);
    EXPECT_EQ(session_.rows()[0].peer, "system");
    EXPECT_EQ(session_.rows()[0].met(), Met::no);
    EXPECT_EQ(session_.rows()[1].peer, "");
    EXPECT_EQ(session_.rows()[1].met(), Met::yes);
}

TEST_F(SessionTest, WithoutAnyMeasuredPeerTheBestIsUnknown) {
    session_.measure("work", kNanoseconds)
        .ours(taking(2))
        .missing_peer("absent", "install it")
        .bar(ratio_at_most(1))
        .against_the_best({})
        .operations(1)
        .run();
    ASSERT_EQ(session_.rows().size(), 1U);
    EXPECT_EQ(session_.rows()[0].met(), Met::unknown);
    EXPECT_EQ(session_.rows()[0].note, "not here: absent");
}

TEST_F(SessionTest, LongWorkMayHaveFewerRoundsButNotMore) {
    session_.measure("few", kNanoseconds).ours(taking(2)).operations(1).rounds_at_most(2).run();
    session_.measure("many", kNanoseconds).ours(taking(2)).operations(1).rounds_at_most(9).run();
    EXPECT_EQ(session_.rows().at(0).statistic, "min of 2");
    EXPECT_EQ(session_.rows().at(1).statistic, "min of 3");
}

TEST_F(SessionTest, AFigureThatIsNoTimeIsShownInItsUnit) {
    const double bytes = 3.0 * 1024 * 1024;
    session_.measure("growth", kMebibytes)
        .ours([=](Round& round) { round.add_figure(bytes); })
        .operations(1)
        .run();
    EXPECT_DOUBLE_EQ(session_.rows().at(0).ours.value(), 3);
    EXPECT_EQ(session_.rows()[0].label.unit, "MiB");
}

TEST(QuickSession, JudgesNothing) {
    Progress progress;
    Session session({.rounds = 1, .quick = true, .peers = {}}, progress, {});
    session.measure("work", kNanoseconds)
        .ours(taking(5))
        .peer("one", "1.0", taking(9))
        .bar(ratio_at_most(1))
        .operations(1)
        .run();
    ASSERT_EQ(session.rows().size(), 1U);
    EXPECT_FALSE(session.rows()[0].judged);
    EXPECT_EQ(session.rows()[0].met(), Met::unknown);
}

TEST_F(SessionTest, WithoutPeersThereIsOneRow) {
    session_.measure("alone", kNanoseconds).ours(taking(5)).operations(1).median().run();
    ASSERT_EQ(session_.rows().size(), 1U);
    EXPECT_TRUE(session_.rows()[0].peer.empty());
    EXPECT_EQ(session_.rows()[0].met(), Met::unknown);
    EXPECT_EQ(session_.rows()[0].statistic, "median of 3");
}

TEST_F(SessionTest, AMissingPeerLeavesTheBarUnknownAndSaysWhatToDo) {
    session_.measure("work", kNanoseconds)
        .ours(taking(5))
        .missing_peer("elsewhere", "install it")
        .bar(ratio_at_most(1))
        .operations(1)
        .run();
    const Row& row = session_.rows().at(0);
    EXPECT_EQ(row.peer, "elsewhere");
    EXPECT_FALSE(row.peer_value.has_value());
    EXPECT_EQ(row.met(), Met::unknown);
    EXPECT_EQ(row.note, "install it");
}

TEST_F(SessionTest, RatesAreBytesPerNanosecond) {
    session_.measure("copy", gigabytes_per_second(1'000)).ours(taking(100)).operations(1).run();
    EXPECT_DOUBLE_EQ(session_.rows().at(0).ours.value(), 10);
    EXPECT_EQ(session_.rows()[0].label.unit, "GB/s");
}

TEST_F(SessionTest, AnUnavailableCaseIsARowWithoutFigures) {
    session_.measure("work", kNanoseconds).bar(ratio_at_most(1)).unavailable("no such thing here");
    const Row& row = session_.rows().at(0);
    EXPECT_FALSE(row.ours.has_value());
    EXPECT_EQ(row.met(), Met::unknown);
    EXPECT_EQ(row.note, "not measured: no such thing here");
}

TEST_F(SessionTest, ADisagreementNamesTheCase) {
    const auto answering = [](std::uint64_t checksum) {
        return [=](Round& round) { round.check(checksum); };
    };
    try {
        session_.measure("sums", kNanoseconds)
            .ours(answering(1))
            .peer("p", "1", answering(2))
            .operations(1)
            .run();
        FAIL() << "the checksums differ";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("test: sums"), std::string::npos) << error.what();
    }
    EXPECT_TRUE(session_.rows().empty());
}

void run_nothing(Session&) {}
const RegisteredSuite kSecond({"zeta", "the last", run_nothing});
const RegisteredSuite kFirst({"alpha", "the first", run_nothing});

TEST(Suites, AreFoundByNameAndSorted) {
    const auto all = find_suites({});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name, "alpha");
    EXPECT_EQ(all[1].name, "zeta");
    ASSERT_EQ(find_suites({"zeta"}).size(), 1U);
    EXPECT_EQ(find_suites({"zeta"})[0].about, "the last");
}

TEST(Suites, AnUnknownNameListsThoseThatExist) {
    try {
        (void)find_suites({"alpha", "beta"});
        FAIL() << "there is no suite 'beta'";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "there is no suite 'beta'; choose from: alpha, zeta");
    }
}

TEST(Peers, WhatIsNotThereIsNotLoaded) {
    const PeerFolder folder(std::filesystem::temp_directory_path());
    const PeerLibrary library = folder.load("ouro-no-such-library");
    EXPECT_FALSE(library.is_loaded());
    EXPECT_EQ(library.function<void()>("anything"), nullptr);
}

TEST(Peers, TheSystemsLibrariesAreFoundByTheNumberOfTheirInterface) {
    const PeerLibrary library = PeerFolder().load("m", "6");
    ASSERT_TRUE(library.is_loaded());
    auto* cosine = library.function<double(double)>("cos");
    ASSERT_NE(cosine, nullptr);
    EXPECT_EQ(cosine(0), 1);
}

}  // namespace
}  // namespace ouro::bench
