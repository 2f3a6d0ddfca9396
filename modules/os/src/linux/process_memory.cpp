#include "text_file.hpp"

#include <ouro/os/process_memory.hpp>

#include <string_view>

#include <sys/prctl.h>
#include <unistd.h>

namespace ouro::os {
namespace {

constexpr std::uint64_t kKib = 1024;

struct StatusFields {
    ProcessMemory memory;
    unsigned found = 0;

    bool visit(std::string_view line) noexcept {
        take(line, "VmSize:", memory.virtual_bytes);
        take(line, "VmHWM:", memory.peak_resident_bytes);
        take(line, "VmRSS:", memory.resident_bytes);
        return found != 3;
    }

    void take(std::string_view line, std::string_view key, std::uint64_t& bytes) noexcept {
        if (!line.starts_with(key)) return;
        const auto kib = parse_number(text_from(line, key.size()));
        if (!kib) return;
        bytes = *kib * kKib;
        ++found;
    }
};

}  // namespace

Expected<ProcessMemory> process_memory() noexcept {
    StatusFields fields;
    const auto read = for_each_line(
        "/proc/self/status",
        [](std::string_view line, void* context) { return static_cast<StatusFields*>(context)->visit(line); },
        &fields);
    if (!read) return read.status();
    if (fields.found != 3) return Status::corrupt_data;
    // The peak is taken down now and then only.
    if (fields.memory.peak_resident_bytes < fields.memory.resident_bytes)
        fields.memory.peak_resident_bytes = fields.memory.resident_bytes;
    return fields.memory;
}

std::uint32_t process_id() noexcept {
    return static_cast<std::uint32_t>(::getpid());
}

Expected<void> let_same_user_read() noexcept {
    if (::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) != 0) return Status::not_supported;
    return {};
}

}  // namespace ouro::os
