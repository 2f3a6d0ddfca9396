#pragma once

// What is known about the test that runs now. Threads of the test write here as well.
namespace testing::internal {

struct Record {
    int nonfatal = 0;
    int fatal = 0;
    bool skipped = false;
};

void reset_record();
Record current_record();

}  // namespace testing::internal
