#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ouro::bench {

class Session;

struct Suite {
    std::string_view name;
    // One line for --list.
    std::string_view about;
    void (*run)(Session& session) = nullptr;
};

// Adds a suite to the program; make one at namespace scope in the suite's file.
class RegisteredSuite {
public:
    explicit RegisteredSuite(const Suite& suite);
};

// All registered suites, by name.
[[nodiscard]] std::vector<Suite> all_suites();

// The suites of these names, or all for none. Throws std::invalid_argument, naming the suites that exist, for
// a name that is not one of them.
[[nodiscard]] std::vector<Suite> find_suites(const std::vector<std::string>& names);

}  // namespace ouro::bench
