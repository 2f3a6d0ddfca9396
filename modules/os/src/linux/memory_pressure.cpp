#include "cgroup.hpp"
#include "text_file.hpp"

#include <ouro/os/memory_pressure.hpp>

#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

namespace ouro::os {
namespace {

constexpr std::uint64_t kKib = 1024;
constexpr const char* kMembership = "/proc/self/cgroup";
constexpr const char* kHierarchyRoot = "/sys/fs/cgroup";

Expected<std::uint64_t> kib_field(std::string_view text, std::string_view key) noexcept {
    const auto field = find_field(text, key);
    if (!field) return Status::corrupt_data;
    const auto kib = parse_number(*field);
    if (!kib) return kib.status();
    return *kib * kKib;
}

// The text behind `key` up to the next space, e.g. "0.12" for "avg10=".
Expected<std::string_view> value_of(std::string_view line, std::string_view key) noexcept {
    const std::size_t start = line.find(key);
    if (start == std::string_view::npos) return Status::corrupt_data;
    const std::string_view rest = text_from(line, start + key.size());
    return text_until(rest, rest.find(' '));
}

Expected<double> percent_of(std::string_view line, std::string_view key) noexcept {
    const auto text = value_of(line, key);
    if (!text) return text.status();
    double percent = 0;
    const auto result = std::from_chars(text->data(), text->data() + text->size(), percent);
    if (result.ec != std::errc{} || !(percent >= 0 && percent <= 100)) return Status::corrupt_data;
    return percent;
}

Expected<StallShares> parse_shares(std::string_view line) noexcept {
    const auto short_term = percent_of(line, "avg10=");
    const auto medium_term = percent_of(line, "avg60=");
    const auto long_term = percent_of(line, "avg300=");
    const auto total = value_of(line, "total=");
    if (!short_term || !medium_term || !long_term || !total) return Status::corrupt_data;
    const auto total_us = parse_number(*total);
    if (!total_us) return total_us.status();
    return StallShares{*short_term, *medium_term, *long_term, *total_us};
}

}  // namespace

Expected<MemoryStalls> parse_stalls(std::string_view text) noexcept {
    const auto some_line = find_field(text, "some ");
    const auto full_line = find_field(text, "full ");
    if (!some_line || !full_line) return Status::corrupt_data;
    const auto some = parse_shares(*some_line);
    const auto full = parse_shares(*full_line);
    if (!some || !full) return Status::corrupt_data;
    return MemoryStalls{*some, *full};
}

Expected<SystemMemory> system_memory() noexcept {
    std::array<char, 8192> buffer;
    const auto text = read_text_file("/proc/meminfo", buffer);
    if (!text) return text.status();
    const auto total = kib_field(*text, "MemTotal:");
    const auto available = kib_field(*text, "MemAvailable:");
    if (!total || !available) return Status::corrupt_data;
    return SystemMemory{*total, *available};
}

Expected<CgroupMemory> cgroup_memory() noexcept {
    return read_cgroup_memory(kMembership, kHierarchyRoot);
}

Expected<MemoryStalls> read_stalls(const char* path) noexcept {
    std::array<char, 512> buffer;
    const auto text = read_text_file(path, buffer);
    if (text) return parse_stalls(*text);
    const bool absent = text.status() == Status::not_found || text.status() == Status::not_supported;
    return absent ? Status::not_supported : text.status();
}

Expected<MemoryStalls> memory_stalls() noexcept {
    // The machine may be well while the group is not.
    if (const auto stalls = read_cgroup_stalls(kMembership, kHierarchyRoot)) return stalls;
    return read_stalls("/proc/pressure/memory");
}

}  // namespace ouro::os
