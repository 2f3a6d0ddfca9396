#include "error_text.hpp"

#include <ouro/memory/leak_report.hpp>
#include <ouro/memory/memory_error.hpp>

#include <algorithm>
#include <cstdlib>

namespace ouro {

void LeakReport::add(std::string_view resource, MemoryBlock block, std::size_t alignment,
                     const CallSites& allocated_at) noexcept {
    ++blocks_;
    bytes_ += block.size;
    Group* const end = groups_.data() + group_count_;
    Group* group = std::find_if(groups_.data(), end, [&](const Group& known) {
        return known.resource == resource && known.allocated_at == allocated_at;
    });
    if (group == end) {
        if (group_count_ == kMaxGroups) return;
        *group = {.resource = resource, .allocated_at = allocated_at, .block = block, .alignment = alignment};
        ++group_count_;
    }
    if (group->alignment != alignment) group->alignment = 0;
    ++group->blocks;
    group->bytes += block.size;
}

void LeakReport::sort() noexcept {
    std::sort(groups_.data(), groups_.data() + group_count_,
              [](const Group& one, const Group& other) { return one.bytes > other.bytes; });
}

void LeakReport::print() const noexcept {
    ErrorText text;
    text.add("ouroboros: ").add_leak(blocks_, bytes_).add("\n");
    for (const Group& group : groups()) {
        text.add("  ").add(group.blocks, "block").add(" with ").add(group.bytes, "byte").add(" of '");
        text.add(group.resource).add(group.blocks == 1 ? "', at " : "', one of them at ");
        text.add(group.block.data);
        if (group.alignment != 0) text.add(", aligned to ").add(group.alignment);
        text.add("\n");
        text.flush();
        print_call_sites("allocated at", group.allocated_at);
    }
}

bool report_leaks_at_exit() noexcept {
    return std::atexit([] {
               LeakReport report = collect_leaks();
               if (report.is_empty()) return;
               report.sort();
               report.print();
           }) == 0;
}

}  // namespace ouro
