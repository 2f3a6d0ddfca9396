#include "cgroup.hpp"

#include "text_file.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

namespace ouro::os {
namespace {

// A path put together in place.
class Path {
public:
    Path& append(std::string_view text) noexcept {
        const std::size_t room = sizeof(text_) - 1 - size_;
        const std::size_t count = text.size() < room ? text.size() : room;
        std::memcpy(text_ + size_, text.data(), count);
        size_ += count;
        text_[size_] = '\0';
        return *this;
    }

    // Drops the last part; false at the root.
    bool to_parent(std::size_t root_size) noexcept {
        while (size_ > root_size && text_[size_ - 1] != '/')
            --size_;
        if (size_ <= root_size) return false;
        text_[--size_] = '\0';
        return true;
    }

    [[nodiscard]] const char* c_str() const noexcept { return text_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    char text_[PATH_MAX] = {};
    std::size_t size_ = 0;
};

struct Hierarchy {
    unsigned version;
    const char* mount;  // below the root
    const char* limit_file;
    // Where the kernel begins to throttle and to reclaim, which stops a program as well; null without such.
    const char* throttle_file;
    const char* usage_file;
    const char* reclaimable_field;  // in /memory.stat
};

// Version 2 is mounted at the root itself, or at `unified` beside version 1's hierarchies.
constexpr Hierarchy kHierarchies[] = {
    {2, "", "/memory.max", "/memory.high", "/memory.current", "inactive_file "},
    {2, "/unified", "/memory.max", "/memory.high", "/memory.current", "inactive_file "},
    {1, "/memory", "/memory.limit_in_bytes", nullptr, "/memory.usage_in_bytes", "total_inactive_file "},
};

// "max", a missing file, or version 1's huge numbers mean no limit.
Expected<std::uint64_t> read_limit(Path group, const char* file) noexcept {
    constexpr std::uint64_t kLargestRealLimit = std::uint64_t{1} << 60;
    if (file == nullptr) return kNoLimit;
    std::array<char, 64> buffer;
    const auto text = read_text_file(group.append(file).c_str(), buffer);
    if (!text && text.status() == Status::not_found) return kNoLimit;
    if (!text) return text.status();
    if (text->starts_with("max")) return kNoLimit;
    const auto limit = parse_number(*text);
    if (!limit) return limit.status();
    return *limit < kLargestRealLimit ? *limit : kNoLimit;
}

// The group's path in its hierarchy: "0::/path" for version 2, "4:memory:/path" for version 1.
std::string_view group_path(std::string_view membership, unsigned version) noexcept {
    while (!membership.empty()) {
        const std::size_t end = membership.find('\n');
        const std::string_view line = text_until(membership, end);
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second != std::string_view::npos) {
            const std::string_view controllers = text_from(text_until(line, second), first + 1);
            const bool unified = controllers.empty();
            const bool memory = controllers == "memory" || controllers.starts_with("memory,") ||
                                controllers.find(",memory") != std::string_view::npos;
            if (version == 2 ? unified : memory) return text_from(line, second + 1);
        }
        if (end == std::string_view::npos) break;
        membership.remove_prefix(end + 1);
    }
    return {};
}

struct ReclaimableField {
    const char* key;
    std::uint64_t bytes = 0;

    bool visit(std::string_view line) noexcept {
        if (!line.starts_with(key)) return true;
        bytes = parse_number(text_from(line, std::string_view(key).size())).value_or(0);
        return false;
    }
};

// Zero where the file or the field is missing.
std::uint64_t read_reclaimable(const char* path, const char* key) noexcept {
    ReclaimableField field{key};
    static_cast<void>(for_each_line(
        path,
        [](std::string_view line, void* context) {
            return static_cast<ReclaimableField*>(context)->visit(line);
        },
        &field));
    return field.bytes;
}

// One group's own limit and usage; not_found where the group has no such files.
Expected<CgroupMemory> read_group(const Hierarchy& hierarchy, const Path& group) noexcept {
    Path usage_path = group;
    const auto limit = read_limit(group, hierarchy.limit_file);
    const auto throttle = read_limit(group, hierarchy.throttle_file);
    const auto usage = read_number(usage_path.append(hierarchy.usage_file).c_str());
    if (!usage) return usage.status();
    if (!limit) return limit.status();
    if (!throttle) return throttle.status();
    Path statistics_path = group;
    const std::uint64_t reclaimable =
        read_reclaimable(statistics_path.append("/memory.stat").c_str(), hierarchy.reclaimable_field);
    return CgroupMemory{hierarchy.version, std::min(*limit, *throttle), *usage,
                        std::min(reclaimable, *usage)};
}

std::uint64_t headroom_of(const CgroupMemory& group) noexcept {
    const std::uint64_t needed = group.usage_bytes - group.reclaimable_bytes;
    return group.limit_bytes > needed ? group.limit_bytes - needed : 0;
}

// Calls visit(folder) for the group and those around it, until it returns false.
template <class Visit>
void for_each_group(const Hierarchy& hierarchy, std::string_view group, const char* root,
                    Visit&& visit) noexcept {
    Path path;
    path.append(root).append(hierarchy.mount);
    const std::size_t root_size = path.size();
    // Inside a container the group's own path may not be visible; the mount then shows the group itself.
    if (group != "/") path.append(group);
    while (visit(path) && path.to_parent(root_size)) {
    }
}

// Of the group and those around it, the one that will be full first.
Expected<CgroupMemory> read_hierarchy(const Hierarchy& hierarchy, std::string_view group,
                                      const char* root) noexcept {
    Expected<CgroupMemory> tightest = Status::not_found;
    for_each_group(hierarchy, group, root, [&](const Path& path) noexcept {
        const auto here = read_group(hierarchy, path);
        if (!here && here.status() != Status::not_found) {
            tightest = here;
            return false;
        }
        if (here && (!tightest || headroom_of(*here) < headroom_of(*tightest))) tightest = here;
        return true;
    });
    return tightest;
}

// The stalls of the group, or of the nearest one around it that tells.
Expected<MemoryStalls> read_group_stalls(const Hierarchy& hierarchy, std::string_view group,
                                         const char* root) noexcept {
    Expected<MemoryStalls> stalls = Status::not_found;
    for_each_group(hierarchy, group, root, [&](Path path) noexcept {
        stalls = read_stalls(path.append("/memory.pressure").c_str());
        return !stalls && stalls.status() == Status::not_supported;
    });
    return stalls;
}

// Asks each hierarchy that the process is in until one answers.
template <class Answer, class Read>
Expected<Answer> ask_hierarchies(const char* membership, const char* root, Read&& read) noexcept {
    std::array<char, 8192> buffer;
    const auto text = read_text_file(membership, buffer);
    if (!text) return text.status() == Status::not_found ? Status::not_supported : text.status();
    for (const Hierarchy& hierarchy : kHierarchies) {
        const std::string_view group = group_path(*text, hierarchy.version);
        if (group.empty()) continue;
        const Expected<Answer> answer = read(hierarchy, group, root);
        const bool is_absent =
            !answer && (answer.status() == Status::not_found || answer.status() == Status::not_supported);
        if (!is_absent) return answer;
    }
    return Status::not_supported;
}

}  // namespace

Expected<CgroupMemory> read_cgroup_memory(const char* membership, const char* root) noexcept {
    return ask_hierarchies<CgroupMemory>(membership, root, read_hierarchy);
}

Expected<MemoryStalls> read_cgroup_stalls(const char* membership, const char* root) noexcept {
    return ask_hierarchies<MemoryStalls>(membership, root, read_group_stalls);
}

}  // namespace ouro::os
