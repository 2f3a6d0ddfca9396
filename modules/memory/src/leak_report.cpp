#include "error_text.hpp"

#include <ouro/memory/leak_report.hpp>
#include <ouro/memory/memory_error.hpp>

#include <algorithm>
#include <cstdlib>

namespace ouro {

void LeakReport::add(std::string_view resource, MemoryBlock block, const CallSites& allocated_at) noexcept {
    ++blocks_;
    bytes_ += block.size;
    Group* const end = groups_.data() + group_count_;
    Group* group = std::find_if(groups_.data(), end, [&](const Group& known) {
        return known.resource == resource && known.allocated_at == allocated_at;
    });
    if (group == end) {
        if (group_count_ == kMaxGroups) return;
        *group = {.resource = resource, .allocated_at = allocated_at, .block = block};
        ++group_count_;
    }
    ++group->blocks;
    group->bytes += block.size;
}

void LeakReport::sort() noexcept {
    std::sort(groups_.data(), groups_.data() + group_count_,
              [](const Group& one, const Group& other) { return one.bytes > other.bytes; });
}

void LeakReport::print() const noexcept {
    ErrorText text;
    text.add("ouroboros: ").add(blocks_).add(" blocks with ").add(bytes_).add(" bytes were never freed\n");
    for (const Group& group : groups()) {
        text.add("  ").add(group.blocks).add(" blocks with ").add(group.bytes).add(" bytes of '");
        text.add(group.resource).add("', one of them at ").add(group.block.data).add("\n");
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
