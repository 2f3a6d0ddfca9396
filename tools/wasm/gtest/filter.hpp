#pragma once

#include <string>
#include <string_view>

namespace testing::internal {

// Whether `name` is selected by a filter: patterns with * and ?, separated by colons; after a minus sign
// stand the patterns to leave out. An empty positive part selects all.
bool filter_selects(std::string_view filter, std::string_view name);

}  // namespace testing::internal
