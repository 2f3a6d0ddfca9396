#pragma once

#include <ouro/memory/memory_error.hpp>

#include <string>
#include <vector>

namespace ouro::testing_support {

// While one lives, memory errors are kept instead of ending the process.
class RecordedErrors {
public:
    RecordedErrors() {
        reports().clear();
        before_ = set_memory_error_handler(record);
    }
    ~RecordedErrors() { set_memory_error_handler(before_); }
    RecordedErrors(const RecordedErrors&) = delete;
    RecordedErrors& operator=(const RecordedErrors&) = delete;

    [[nodiscard]] static std::vector<MemoryErrorReport>& reports() {
        static std::vector<MemoryErrorReport> kept;
        return kept;
    }

    // The names of what was reported since the last call, with commas.
    [[nodiscard]] static std::string take_names() {
        std::string names;
        for (const MemoryErrorReport& report : reports()) {
            if (!names.empty()) names += ", ";
            names += std::string(memory_error_name(report.error));
        }
        last() = reports().empty() ? MemoryErrorReport{} : reports().back();
        reports().clear();
        return names;
    }
    // The last report before take_names().
    [[nodiscard]] static MemoryErrorReport& last() {
        static MemoryErrorReport kept;
        return kept;
    }

private:
    static AfterMemoryError record(const MemoryErrorReport& report) {
        reports().push_back(report);
        return AfterMemoryError::resume;
    }

    MemoryErrorHandler before_ = nullptr;
};

}  // namespace ouro::testing_support
