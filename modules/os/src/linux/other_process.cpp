#include "file_descriptor.hpp"
#include "process_file.hpp"
#include "system_calls.hpp"
#include "text_file.hpp"

#include <ouro/base/assert.hpp>
#include <ouro/os/other_process.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <array>

#include <sys/uio.h>
#include <unistd.h>

namespace ouro::os {
namespace {

// What the kernel says of a page, by a bit each.
constexpr std::uint64_t kIsPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kIsSwapped = std::uint64_t{1} << 62;

using PageStates = std::array<std::uint64_t, 512>;

// How many states were read; zero when the system tells no more.
std::size_t read_states(int descriptor, std::uint64_t first_page, std::span<std::uint64_t> states) noexcept {
    const std::size_t wanted = states.size_bytes();
    const auto at = static_cast<off_t>(first_page * sizeof(std::uint64_t));
    const ssize_t count =
        attempt(OsCall::read_file, [&] { return ::pread(descriptor, states.data(), wanted, at); });
    return count < 0 ? 0 : static_cast<std::size_t>(count) / sizeof(std::uint64_t);
}

// Joins neighbouring pages into runs.
class RunCollector {
public:
    RunCollector(PageRunVisitor visit, void* context) noexcept : visit_(visit), context_(context) {}

    // Both false when the visitor wants no more.
    bool add(std::size_t offset, std::size_t bytes) noexcept {
        if (run_.bytes != 0 && run_.offset + run_.bytes == offset) {
            run_.bytes += bytes;
            return true;
        }
        const bool goes_on = flush();
        run_ = {offset, bytes};
        return goes_on;
    }
    bool flush() noexcept {
        const PageRun run = run_;
        run_ = {};
        return run.bytes == 0 || visit_(run, context_);
    }

private:
    PageRunVisitor visit_;
    void* context_;
    PageRun run_;
};

}  // namespace

Expected<void> visit_mapping_lines(std::uint32_t process, MappingVisitor visit, void* context) noexcept {
    return for_each_line(ProcessFile(process, "maps").path(), visit, context);
}

Expected<void> visit_used_pages(std::uint32_t process, std::uint64_t address, std::size_t bytes,
                                PageRunVisitor visit, void* context) noexcept {
    const std::size_t page = page_size();
    OURO_ASSERT(address % page == 0 && bytes % page == 0, "the range is not made of whole pages");
    const auto file = FileDescriptor::open_for_reading(ProcessFile(process, "pagemap").path());
    if (!file && file.status() == Status::not_found) return file.status();
    RunCollector runs(visit, context);
    PageStates states;
    const std::size_t pages = bytes / page;
    for (std::size_t at = 0; at < pages;) {
        const std::size_t wanted = std::min(states.size(), pages - at);
        const std::size_t told =
            file ? read_states(file->get(), address / page + at, std::span(states).first(wanted)) : 0;
        // What is not known may be in use.
        if (told == 0) {
            if (runs.add(at * page, bytes - at * page)) runs.flush();
            return {};
        }
        for (std::size_t index = 0; index < told; ++index) {
            const bool is_used = (states[index] & (kIsPresent | kIsSwapped)) != 0;
            if (is_used && !runs.add((at + index) * page, page)) return {};
        }
        at += told;
    }
    runs.flush();
    return {};
}

Expected<void> read_process_memory(std::uint32_t process, std::uint64_t address,
                                   std::span<std::byte> target) noexcept {
    while (!target.empty()) {
        const iovec here{target.data(), target.size()};
        const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), target.size()};
        const ssize_t count = attempt(OsCall::read_process, [&] {
            return ::process_vm_readv(static_cast<pid_t>(process), &here, 1, &there, 1, 0);
        });
        if (count < 0) return errno == ESRCH ? Status::not_found : status_of_error(errno);
        if (count == 0) return Status::not_mapped;
        target = target.subspan(static_cast<std::size_t>(count));
        address += static_cast<std::uint64_t>(count);
    }
    return {};
}

}  // namespace ouro::os
