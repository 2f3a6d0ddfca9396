#pragma once

#include <string>

#include <gtest/printing.h>

namespace testing {

// A yes or no with an explanation; predicates return it so that EXPECT_TRUE can say more.
class AssertionResult {
public:
    template <typename T>
    explicit AssertionResult(const T& value) : ok_(static_cast<bool>(value)) {}
    AssertionResult(const AssertionResult&) = default;

    explicit operator bool() const { return ok_; }
    AssertionResult operator!() const {
        AssertionResult negated(!ok_);
        negated.message_ = message_;
        return negated;
    }

    template <typename T>
    AssertionResult& operator<<(const T& value) {
        message_ += (Message() << value).text();
        return *this;
    }

    const char* message() const { return message_.c_str(); }
    const char* failure_message() const { return message_.c_str(); }

private:
    bool ok_;
    std::string message_;
};

inline AssertionResult AssertionSuccess() {
    return AssertionResult(true);
}

inline AssertionResult AssertionFailure() {
    return AssertionResult(false);
}

// Adds a line to every failure that this thread reports while the object lives.
class ScopedTrace {
public:
    ScopedTrace(const char* file, int line, const Message& text);
    ~ScopedTrace();
    ScopedTrace(const ScopedTrace&) = delete;
    ScopedTrace& operator=(const ScopedTrace&) = delete;

    const ScopedTrace* outer() const { return outer_; }
    const std::string& text() const { return text_; }

private:
    const ScopedTrace* outer_;
    std::string text_;
};

namespace internal {

enum class Kind { nonfatal, fatal, skip };

// Records a failure or a skip of the current test; any thread may. `|` takes what the caller streams, because
// it binds less than <<, and returns void, so that `return Reporter(…) | Message() << …` leaves a void
// function.
class Reporter {
public:
    Reporter(Kind kind, const char* file, int line, const char* text)
        : kind_(kind), file_(file), line_(line), text_(text) {}
    void operator|(const Message& streamed) const;

private:
    Kind kind_;
    const char* file_;
    int line_;
    const char* text_;
};

struct Swallow {
    void operator|(const Message&) const {}
};

// How many fatal failures the current test has had so far.
int fatal_failure_count();

template <typename Statement>
AssertionResult run_without_fatal(Statement statement, const char* text) {
    const int before = fatal_failure_count();
    statement();
    if (fatal_failure_count() == before) return AssertionSuccess();
    return AssertionFailure() << "a fatal failure in: " << text;
}

}  // namespace internal
}  // namespace testing
