#include "filter.hpp"
#include "record.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/registry.h>

namespace testing {
namespace {

struct Options {
    std::string filter;
    bool list = false;
    bool run_disabled = false;
};

Options options;
const TestInfo* current_test = nullptr;

// Functions rather than globals: tests register themselves before this file's globals may exist.
std::vector<TestInfo>& all_tests() {
    static std::vector<TestInfo> tests;
    return tests;
}

std::vector<std::function<void()>>& expanders() {
    static std::vector<std::function<void()>> list;
    return list;
}

struct Suite {
    std::string name;
    std::vector<const TestInfo*> tests;
};

struct Outcome {
    std::size_t passed = 0;
    std::vector<std::string> failed;
    std::vector<std::string> skipped;
};

const char* plural(std::size_t count) {
    return count == 1 ? "" : "s";
}

long long now_ms() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

bool is_selected(const TestInfo& test) {
    return internal::filter_selects(options.filter, test.full_name());
}

// The selected tests by suite, in the order in which the suites were first seen.
std::vector<Suite> selected_suites(bool with_disabled) {
    std::vector<Suite> suites;
    for (const TestInfo& test : all_tests()) {
        if (!is_selected(test) || (test.is_disabled() && !with_disabled)) continue;
        Suite* found = nullptr;
        for (Suite& suite : suites) {
            if (suite.name == test.suite_) found = &suite;
        }
        if (found == nullptr) found = &suites.emplace_back(Suite{test.suite_, {}});
        found->tests.push_back(&test);
    }
    return suites;
}

int list_tests() {
    for (const Suite& suite : selected_suites(true)) {
        const std::string& note = suite.tests.front()->suite_note_;
        std::printf("%s.%s%s\n", suite.name.c_str(), note.empty() ? "" : "  # ", note.c_str());
        for (const TestInfo* test : suite.tests) {
            std::printf("  %s%s%s\n", test->name(), test->note_.empty() ? "" : "  # ", test->note_.c_str());
        }
    }
    return 0;
}

void run_test(const TestInfo& test, Outcome* outcome) {
    const std::string name = test.full_name();
    std::printf("[ RUN      ] %s\n", name.c_str());
    const long long start = now_ms();
    internal::reset_record();
    current_test = &test;
    test.create_()->run();
    current_test = nullptr;
    const char* verdict = "[       OK ]";
    if (Test::HasFailure()) {
        verdict = "[  FAILED  ]";
        outcome->failed.push_back(name);
    } else if (Test::IsSkipped()) {
        verdict = "[  SKIPPED ]";
        outcome->skipped.push_back(name);
    } else {
        ++outcome->passed;
    }
    std::printf("%s %s (%lld ms)\n", verdict, name.c_str(), now_ms() - start);
}

void run_suite(const Suite& suite, Outcome* outcome) {
    const std::size_t count = suite.tests.size();
    std::printf("[----------] %zu test%s from %s\n", count, plural(count), suite.name.c_str());
    const long long start = now_ms();
    internal::reset_record();
    suite.tests.front()->set_up_suite_();
    // A suite whose set-up failed is reported even if its tests pass.
    if (Test::HasFailure()) outcome->failed.push_back(suite.name + " (set-up of the suite)");
    for (const TestInfo* test : suite.tests)
        run_test(*test, outcome);
    internal::reset_record();
    suite.tests.front()->tear_down_suite_();
    if (Test::HasFailure()) outcome->failed.push_back(suite.name + " (tear-down of the suite)");
    std::printf("[----------] %zu test%s from %s (%lld ms total)\n\n", count, plural(count),
                suite.name.c_str(), now_ms() - start);
}

void print_names(const char* label, const std::vector<std::string>& names) {
    if (names.empty()) return;
    std::printf("%s %zu test%s, listed below:\n", label, names.size(), plural(names.size()));
    for (const std::string& name : names)
        std::printf("%s %s\n", label, name.c_str());
}

void parse_flag(const char* flag) {
    constexpr const char* kFilter = "--gtest_filter=";
    if (std::strcmp(flag, "--gtest_list_tests") == 0) {
        options.list = true;
    } else if (std::strcmp(flag, "--gtest_also_run_disabled_tests") == 0) {
        options.run_disabled = true;
    } else if (std::strncmp(flag, kFilter, std::strlen(kFilter)) == 0) {
        options.filter = flag + std::strlen(kFilter);
    } else {
        std::fprintf(stderr, "%s is not supported in wasm and ignored\n", flag);
    }
}

}  // namespace

bool TestInfo::is_disabled() const {
    return suite_.find("DISABLED_") == 0 || name_.find("DISABLED_") == 0 ||
           suite_.find("/DISABLED_") != std::string::npos;
}

void Test::run() {
    SetUp();
    if (!HasFatalFailure() && !IsSkipped()) TestBody();
    TearDown();
}

UnitTest* UnitTest::GetInstance() {
    static UnitTest instance;
    return &instance;
}

const TestInfo* UnitTest::current_test_info() const {
    return current_test;
}

void InitGoogleTest(int* argc, char** argv) {
    int kept = 1;
    for (int i = 1; i < *argc; ++i) {
        if (std::strncmp(argv[i], "--gtest_", 8) == 0) {
            parse_flag(argv[i]);
        } else {
            argv[kept++] = argv[i];
        }
    }
    *argc = kept;
}

namespace internal {

void add_test_info(TestInfo info) {
    all_tests().push_back(std::move(info));
}

void add_expander(std::function<void()> expander) {
    expanders().push_back(std::move(expander));
}

int run_all_tests() {
    for (const auto& expand : expanders())
        expand();
    expanders().clear();
    if (options.list) return list_tests();

    const std::vector<Suite> suites = selected_suites(options.run_disabled);
    std::size_t total = 0;
    for (const Suite& suite : suites)
        total += suite.tests.size();
    std::printf("[==========] Running %zu test%s from %zu test suite%s.\n", total, plural(total),
                suites.size(), plural(suites.size()));
    const long long start = now_ms();
    Outcome outcome;
    for (const Suite& suite : suites)
        run_suite(suite, &outcome);
    std::printf("[==========] %zu test%s from %zu test suite%s ran. (%lld ms total)\n", total, plural(total),
                suites.size(), plural(suites.size()), now_ms() - start);
    std::printf("[  PASSED  ] %zu test%s.\n", outcome.passed, plural(outcome.passed));
    print_names("[  SKIPPED ]", outcome.skipped);
    print_names("[  FAILED  ]", outcome.failed);
    return outcome.failed.empty() ? 0 : 1;
}

}  // namespace internal
}  // namespace testing
