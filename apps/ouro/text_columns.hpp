#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ouro {

// Rows of cells, each column as wide as its widest cell. Widths are counted in letters, not bytes.
class TextColumns {
public:
    enum class Side { left, right };

    explicit TextColumns(std::vector<Side> sides) : sides_(std::move(sides)) {}
    // Above the rows. Requires: a cell for each column, as below.
    void head(std::vector<std::string> cells) { head_ = std::move(cells); }
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    [[nodiscard]] bool empty() const { return rows_.empty(); }
    // Columns that are empty in all rows are left out, whatever is above them.
    [[nodiscard]] std::string text() const;

private:
    void add_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                  std::string& text) const;

    std::vector<Side> sides_;
    std::vector<std::string> head_;
    std::vector<std::vector<std::string>> rows_;
};

// With separators: 1,234,567.
[[nodiscard]] std::string count_text(unsigned long long count);
// "830 us", "12.5 s", "3 min 20 s", "2 h 5 min".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace ouro
