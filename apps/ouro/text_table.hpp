#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ouro {

// Groups of "subject   value" lines with the values in one column.
class TextTable {
public:
    TextTable& group(std::string_view title);
    TextTable& line(std::string_view subject, std::string_view value);
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

// A size in the largest binary unit that keeps it at one or above: "4 KiB", "23.4 GiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace ouro
