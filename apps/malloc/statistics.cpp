// The report that a program or its user can ask for.
#include "statistics.hpp"

#include "process_heap.hpp"
#include "text_output.hpp"

#include <array>
#include <cerrno>
#include <cstdint>

#include <unistd.h>

namespace ouro::process_heap {
namespace {

enum class Unit : std::uint8_t { count, bytes };

struct Line {
    const char* name;
    std::uint64_t value;
    Unit unit;
};

constexpr std::size_t kLines = 23;

std::array<Line, kLines> lines_of(const Report& all) noexcept {
    return {
        {{"live_blocks",
          all.counts.live_blocks + all.mapped.blocks + all.guarded.blocks + all.profiled.blocks, Unit::count},
         {"live_bytes", all.counts.live_bytes + all.mapped.bytes + all.guarded.bytes + all.profiled.bytes,
          Unit::bytes},
         {"cached_bytes", all.counts.cached_bytes, Unit::bytes},
         {"queued_blocks", all.counts.queued_blocks, Unit::count},
         {"mapped_blocks", all.mapped.blocks, Unit::count},
         {"mapped_bytes", all.mapped.bytes, Unit::bytes},
         {"mapped_peak_bytes", all.mapped.peak_bytes, Unit::bytes},
         {"guarded_blocks", all.guarded.blocks, Unit::count},
         {"guarded_bytes", all.guarded.bytes, Unit::bytes},
         {"guarded_allocations", all.guarded.allocations, Unit::count},
         {"profiled_blocks", all.profiled.blocks, Unit::count},
         {"profiled_bytes", all.profiled.bytes, Unit::bytes},
         {"profiled_allocations", all.profiled.allocations, Unit::count},
         {"allocations", all.allocations, Unit::count},
         {"failures", all.failures, Unit::count},
         {"heap_peak_bytes", all.peak_bytes, Unit::bytes},
         {"heap_usable_bytes", all.usable_bytes, Unit::bytes},
         {"heap_reserved_bytes", all.reserved_bytes, Unit::bytes},
         {"free_resident_bytes_at_most", all.free_dirty_bytes, Unit::bytes},
         {"idle_returned_bytes", all.idle_returned_bytes, Unit::bytes},
         {"thread_heaps", all.counts.heaps, Unit::count},
         {"orphaned_heaps", all.counts.orphans, Unit::count},
         {"process", static_cast<std::uint64_t>(::getpid()), Unit::count}}};
}

// The file's name without folders, cut where it is long. What could end a string or a line is a question
// mark.
void add_program(TextBuffer& text) noexcept {
    constexpr std::size_t kMostLetters = 64;
    const char* name = ::program_invocation_short_name;
    if (name == nullptr) return;
    for (std::size_t index = 0; index < kMostLetters && name[index] != '\0'; ++index) {
        const char letter = name[index];
        const bool is_plain = letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\';
        const char shown[] = {is_plain ? letter : '?', '\0'};
        text.add(shown);
    }
}

void add_text(TextBuffer& text, const std::array<Line, kLines>& lines) noexcept {
    constexpr std::size_t kValueColumn = 32;
    constexpr std::size_t kReadableColumn = 48;
    text.add("libouroboros-malloc:\n");
    for (const Line& line : lines) {
        text.add("  ").add(line.name).pad_to(kValueColumn).add_number(line.value);
        if (line.unit == Unit::bytes && line.value >= 1024)
            text.pad_to(kReadableColumn).add(" ").add_bytes(line.value);
        text.add("\n");
    }
    text.add("  program").pad_to(kValueColumn);
    add_program(text);
    text.add("\n");
}

void add_json(TextBuffer& text, const std::array<Line, kLines>& lines) noexcept {
    text.add("{\"libouroboros-malloc\":{");
    for (const Line& line : lines) {
        if (&line != &lines.front()) text.add(",");
        text.add("\"").add(line.name).add("\":").add_number(line.value);
    }
    text.add(",\"program\":\"");
    add_program(text);
    text.add("\"}}\n");
}

[[gnu::destructor]] void report_at_exit() noexcept {
    if (settings().report_at_exit != ReportFormat::none) write_report(settings().report_at_exit);
}

}  // namespace

void write_report(ReportFormat format) noexcept {
    const auto lines = lines_of(report());
    TextBuffer text;
    if (format == ReportFormat::json) {
        add_json(text, lines);
    } else {
        add_text(text, lines);
    }
    text.write();
}

}  // namespace ouro::process_heap
