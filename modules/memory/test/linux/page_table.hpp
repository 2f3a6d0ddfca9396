#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// A table in docs/hardening.md that a test makes: what lies between two markers.
struct PageTable {
    std::string before;
    std::string table;
    std::string after;

    explicit PageTable(const std::string& maker) {
        const std::string begin_marker = "<!-- made by " + maker + ": begin -->\n";
        const std::string end_marker = "<!-- made by " + maker + ": end -->\n";
        std::ifstream file(OURO_HARDENING_PAGE);
        std::stringstream text;
        text << file.rdbuf();
        const std::string all = text.str();
        const std::size_t begin = all.find(begin_marker);
        const std::size_t end = all.find(end_marker);
        if (begin == std::string::npos || end == std::string::npos) return;
        const std::size_t start = begin + begin_marker.size();
        before = all.substr(0, start);
        table = all.substr(start, end - start);
        after = all.substr(end);
    }

    // With OURO_UPDATE_DOCS in the environment the page is made so; otherwise it has to be so.
    void demand(const std::string& wanted) const {
        if (std::getenv("OURO_UPDATE_DOCS") != nullptr) {
            std::ofstream(OURO_HARDENING_PAGE) << before << wanted << after;
        } else {
            EXPECT_EQ(table, wanted) << "run this test with OURO_UPDATE_DOCS=1 when the change is intended";
        }
    }
};

}  // namespace ouro::testing_support
