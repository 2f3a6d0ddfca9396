#include "filter.hpp"

namespace testing::internal {
namespace {

bool matches(std::string_view pattern, std::string_view name) {
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t star = std::string_view::npos;
    std::size_t retry = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            retry = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            // Let the last star take one character more.
            p = star + 1;
            n = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

bool any_matches(std::string_view patterns, std::string_view name) {
    while (true) {
        const std::size_t colon = patterns.find(':');
        if (matches(patterns.substr(0, colon), name)) return true;
        if (colon == std::string_view::npos) return false;
        patterns.remove_prefix(colon + 1);
    }
}

}  // namespace

bool filter_selects(std::string_view filter, std::string_view name) {
    const std::size_t minus = filter.find('-');
    const std::string_view wanted = filter.substr(0, minus);
    if (!wanted.empty() && !any_matches(wanted, name)) return false;
    return minus == std::string_view::npos || !any_matches(filter.substr(minus + 1), name);
}

}  // namespace testing::internal
