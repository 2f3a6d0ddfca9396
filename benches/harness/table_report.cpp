#include "harness/report.hpp"

#include <algorithm>
#include <cstdio>

namespace ouro::bench {
namespace {

struct Column {
    const char* title;
    std::size_t width;
    bool to_the_right;
};

constexpr Column kColumns[] = {
    {"case", 36, false}, {"unit", 4, false}, {"ours", 7, true}, {"bound", 7, true}, {"peer", 33, false},
    {"value", 7, true},  {"ratio", 5, true}, {"bar", 6, true},  {"met", 7, false},
};
constexpr std::size_t kColumnCount = std::size(kColumns);

std::string padded(std::string text, const Column& column) {
    if (text.size() > column.width) text = text.substr(0, column.width - 1) + "~";
    const std::string space(column.width - text.size(), ' ');
    return column.to_the_right ? space + text : text + space;
}

std::string line_of(const std::string (&cells)[kColumnCount]) {
    std::string line;
    for (std::size_t i = 0; i < kColumnCount; ++i) {
        if (i != 0) line += ' ';
        line += padded(cells[i], kColumns[i]);
    }
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string number(std::optional<double> value) {
    return value ? short_number(*value) : "-";
}

std::string bar_text(const std::optional<Bar>& bar) {
    if (!bar) return "-";
    std::string text = bar->sense == Sense::at_most ? "<=" : ">=";
    if (bar->figure == Figure::difference) text += '+';
    char limit[32];
    std::snprintf(limit, sizeof(limit), "%.3g", bar->limit);
    text += limit;
    return text;
}

std::string mebibytes(std::uint64_t bytes) {
    return number(static_cast<double>(bytes) / (1024.0 * 1024.0)) + " MiB";
}

void append_remark(std::string& remarks, const std::string& text) {
    if (text.empty()) return;
    if (!remarks.empty()) remarks += "; ";
    remarks += text;
}

std::string remarks_of(const Row& row) {
    std::string remarks;
    if (row.bound) append_remark(remarks, "bound: " + row.bound_name);
    append_remark(remarks, row.note);
    if (row.memory_bytes) append_remark(remarks, "memory: " + mebibytes(*row.memory_bytes));
    if (row.peer_memory_bytes) append_remark(remarks, "the peer's: " + mebibytes(*row.peer_memory_bytes));
    if (row.statistic.starts_with("median")) append_remark(remarks, row.statistic);
    return remarks;
}

// Breaks a text at spaces into lines with an indent.
std::string wrapped(const std::string& text) {
    constexpr std::size_t kIndent = 4;
    constexpr std::size_t kRoom = kTableColumns - kIndent;
    std::string lines;
    std::size_t begin = 0;
    while (begin < text.size()) {
        std::size_t length = std::min(kRoom, text.size() - begin);
        if (begin + length < text.size()) {
            const std::size_t space = text.rfind(' ', begin + length);
            if (space != std::string::npos && space > begin) length = space - begin;
        }
        lines += std::string(kIndent, ' ') + text.substr(begin, length) + "\n";
        begin += length;
        while (begin < text.size() && text[begin] == ' ')
            ++begin;
    }
    return lines;
}

}  // namespace

std::string short_number(double value) {
    const double size = value < 0 ? -value : value;
    const int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    char text[64];
    std::snprintf(text, sizeof(text), "%.*f", decimals, value);
    return text;
}

std::string table_machine(const Machine& machine) {
    const std::string memory = number(static_cast<double>(machine.memory_bytes) / (1024.0 * 1024.0 * 1024.0));
    std::string text =
        machine.cpu + " (" + machine.vector_extensions + "), " + std::to_string(machine.cores) + " cores, " +
        memory + " GiB, " + machine.kernel + ", " + machine.compiler + " " + machine.build_type +
        ", pages of " + std::to_string(machine.page_bytes) +
        " bytes, transparent huge pages: " + machine.transparent_huge_pages + ", " + machine.date;
    std::string lines = "machine\n" + wrapped(text);
    if (machine.build_type != "Release") lines += wrapped("not a Release build: the figures mean little");
    if (machine.quick) lines += wrapped("quick: sizes and times are cut down, the figures mean nothing");
    return lines;
}

std::string table_heading(const std::string& suite, const std::string& about) {
    std::string titles[kColumnCount];
    for (std::size_t i = 0; i < kColumnCount; ++i)
        titles[i] = kColumns[i].title;
    const std::string line = line_of(titles);
    return "\n" + suite + ": " + about + "\n" + line + std::string(kTableColumns, '-') + "\n";
}

std::string table_row(const Row& row) {
    const std::string peer = row.peer.empty() ? "-" : row.peer + " " + row.peer_version;
    const std::string cells[kColumnCount] = {
        row.label.name,
        row.label.unit,
        number(row.ours),
        number(row.bound),
        peer,
        number(row.peer_value),
        number(row.ratio()),
        row.judged ? bar_text(row.bar) : "-",
        row.judged ? std::string(met_text(row.met())) : "-",
    };
    return line_of(cells) + wrapped(remarks_of(row));
}

std::string table_summary(const std::vector<Row>& rows) {
    const auto count = [&](auto&& belongs) {
        return std::to_string(std::count_if(rows.begin(), rows.end(), belongs));
    };
    std::string text = "\n";
    text.append(std::to_string(rows.size())).append(rows.size() == 1 ? " row: " : " rows: ");
    if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.judged; }))
        return text.append("quick, so no bar was judged\n");
    text.append(count([](const Row& row) { return row.met() == Met::yes; })).append(" bars met, ");
    text.append(count([](const Row& row) { return row.met() == Met::no; })).append(" missed; unknown: ");
    text.append(count([](const Row& row) { return !row.bar; })).append(" no bar, ");
    text.append(count([](const Row& row) { return row.bar && row.met() == Met::unknown; }));
    return text.append(" peer missing or not measured\n");
}

}  // namespace ouro::bench
