#include "harness/suite.hpp"

#include <algorithm>
#include <stdexcept>

namespace ouro::bench {
namespace {

// A local static: the registering objects of other files are made before any other order is certain.
std::vector<Suite>& registry() {
    static std::vector<Suite> suites;
    return suites;
}

std::string names_of(const std::vector<Suite>& suites) {
    std::string names;
    for (const Suite& suite : suites)
        names += (names.empty() ? "" : ", ") + std::string(suite.name);
    return names;
}

}  // namespace

RegisteredSuite::RegisteredSuite(const Suite& suite) {
    registry().push_back(suite);
}

std::vector<Suite> all_suites() {
    std::vector<Suite> suites = registry();
    std::sort(suites.begin(), suites.end(), [](const Suite& a, const Suite& b) { return a.name < b.name; });
    return suites;
}

std::vector<Suite> find_suites(const std::vector<std::string>& names) {
    const std::vector<Suite> all = all_suites();
    if (names.empty()) return all;
    std::vector<Suite> found;
    for (const std::string& name : names) {
        const auto suite =
            std::find_if(all.begin(), all.end(), [&](const Suite& s) { return s.name == name; });
        if (suite == all.end())
            throw std::invalid_argument("there is no suite '" + name + "'; choose from: " + names_of(all));
        found.push_back(*suite);
    }
    return found;
}

}  // namespace ouro::bench
