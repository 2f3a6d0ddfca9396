#include "record.hpp"

#include <cstdio>
#include <mutex>

#include <gtest/registry.h>
#include <gtest/result.h>

namespace testing {
namespace {

std::mutex record_mutex;
internal::Record record;
thread_local const ScopedTrace* innermost_trace = nullptr;

}  // namespace

ScopedTrace::ScopedTrace(const char* file, int line, const Message& text)
    : outer_(innermost_trace), text_(std::string(file) + ":" + std::to_string(line) + ": " + text.text()) {
    innermost_trace = this;
}

ScopedTrace::~ScopedTrace() {
    innermost_trace = outer_;
}

bool Test::HasFailure() {
    const internal::Record now = internal::current_record();
    return now.fatal + now.nonfatal > 0;
}

bool Test::HasFatalFailure() {
    return internal::current_record().fatal > 0;
}

bool Test::IsSkipped() {
    return internal::current_record().skipped;
}

namespace internal {

void reset_record() {
    const std::lock_guard guard(record_mutex);
    record = {};
}

Record current_record() {
    const std::lock_guard guard(record_mutex);
    return record;
}

int fatal_failure_count() {
    return current_record().fatal;
}

void Reporter::operator|(const Message& streamed) const {
    std::string out = std::string(file_) + ":" + std::to_string(line_);
    out += kind_ == Kind::skip ? ": Skipped\n" : ": Failure\n";
    if (*text_ != '\0') out += std::string(text_) + "\n";
    if (!streamed.text().empty()) out += streamed.text() + "\n";
    for (const ScopedTrace* trace = innermost_trace; trace != nullptr && kind_ != Kind::skip;
         trace = trace->outer()) {
        out += "  within " + trace->text() + "\n";
    }
    const std::lock_guard guard(record_mutex);
    if (kind_ == Kind::skip) record.skipped = true;
    if (kind_ == Kind::fatal) ++record.fatal;
    if (kind_ == Kind::nonfatal) ++record.nonfatal;
    std::fwrite(out.data(), 1, out.size(), stdout);
}

}  // namespace internal
}  // namespace testing
