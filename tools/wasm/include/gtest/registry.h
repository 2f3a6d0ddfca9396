#pragma once

#include <functional>
#include <memory>
#include <string>

namespace testing {

// The base of all fixtures.
class Test {
public:
    Test() = default;
    virtual ~Test() = default;
    Test(const Test&) = delete;
    Test& operator=(const Test&) = delete;

    static void SetUpTestSuite() {}
    static void TearDownTestSuite() {}
    static bool HasFailure();
    static bool HasFatalFailure();
    static bool IsSkipped();
    template <typename Value>
    static void RecordProperty(const std::string&, const Value&) {}

    // What the runner calls; a test overrides the three below.
    void run();

protected:
    virtual void SetUp() {}
    virtual void TearDown() {}

private:
    virtual void TestBody() = 0;
};

class TestInfo {
public:
    const char* name() const { return name_.c_str(); }
    const char* test_suite_name() const { return suite_.c_str(); }
    std::string full_name() const { return suite_ + "." + name_; }
    bool is_disabled() const;

    std::string suite_;
    std::string name_;
    std::string suite_note_;  // what --gtest_list_tests prints after the suite: the type parameter
    std::string note_;        // and after the test: the value parameter
    std::function<std::unique_ptr<Test>()> create_;
    void (*set_up_suite_)() = nullptr;
    void (*tear_down_suite_)() = nullptr;
};

class UnitTest {
public:
    static UnitTest* GetInstance();
    // Null outside of a test.
    const TestInfo* current_test_info() const;
    int random_seed() const { return 0; }
};

void InitGoogleTest(int* argc, char** argv);

namespace internal {

void add_test_info(TestInfo info);

// Called before the first test runs or is listed: suites with parameters register their tests then, when all
// bodies and all instances are known.
void add_expander(std::function<void()> expander);

int run_all_tests();

// A fixture may keep its two suite functions protected.
template <typename Fixture>
struct SuiteAccess : Fixture {
    using Fixture::SetUpTestSuite;
    using Fixture::TearDownTestSuite;
};

template <typename Body, typename Fixture>
bool add_test(std::string suite, std::string name, std::string suite_note = "", std::string note = "",
              std::function<void()> before_create = nullptr) {
    TestInfo info;
    info.suite_ = std::move(suite);
    info.name_ = std::move(name);
    info.suite_note_ = std::move(suite_note);
    info.note_ = std::move(note);
    info.create_ = [before_create]() -> std::unique_ptr<Test> {
        if (before_create) before_create();
        return std::make_unique<Body>();
    };
    info.set_up_suite_ = &SuiteAccess<Fixture>::SetUpTestSuite;
    info.tear_down_suite_ = &SuiteAccess<Fixture>::TearDownTestSuite;
    add_test_info(std::move(info));
    return true;
}

}  // namespace internal
}  // namespace testing
