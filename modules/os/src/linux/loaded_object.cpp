#include "loaded_object.hpp"

#include "text_file.hpp"

namespace ouro::os {
namespace {

std::string_view file_of(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : text_from(path, slash + 1);
}

bool is_named(std::string_view file, std::string_view name) noexcept {
    if (file == name) return true;
    return !name.empty() && file.starts_with(name) && text_from(file, name.size()).starts_with(".so");
}

struct Search {
    std::string_view name;
    LoadedObject found;
    int count = 0;
};

int visit(dl_phdr_info* info, std::size_t, void* context) {
    auto& search = *static_cast<Search*>(context);
    if (!is_named(file_of(info->dlpi_name), search.name)) return 0;
    search.found = {
        .base = info->dlpi_addr, .segments = {info->dlpi_phdr, info->dlpi_phnum}, .path = info->dlpi_name};
    ++search.count;
    // The program comes first; others without a name are the kernel's.
    return search.name.empty() ? 1 : 0;
}

}  // namespace

const ElfW(Phdr) * LoadedObject::segment(std::uint32_t type) const noexcept {
    for (const ElfW(Phdr) & each : segments)
        if (each.p_type == type) return &each;
    return nullptr;
}

std::uintptr_t LoadedObject::dynamic(ElfW(Sxword) tag) const noexcept {
    const ElfW(Phdr)* section = segment(PT_DYNAMIC);
    if (section == nullptr) return 0;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + section->p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == tag) return entry->d_un.d_val;
    return 0;
}

// Some loaders replace the addresses of the file by those in memory, and some do not.
std::uintptr_t LoadedObject::dynamic_address(ElfW(Sxword) tag) const noexcept {
    const std::uintptr_t value = dynamic(tag);
    return value != 0 && value < base ? base + value : value;
}

std::span<std::uintptr_t> LoadedObject::lazy_slots() const noexcept {
    constexpr std::size_t kLoadersOwn = 3;
    const std::uintptr_t begin = dynamic_address(DT_PLTGOT);
    const std::size_t entry = dynamic(DT_PLTREL) == DT_RELA ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
    if (begin == 0) return {};
    return {reinterpret_cast<std::uintptr_t*>(begin), kLoadersOwn + dynamic(DT_PLTRELSZ) / entry};
}

Expected<LoadedObject> find_loaded_object(std::string_view name) noexcept {
    Search search{.name = name, .found = {}};
    ::dl_iterate_phdr(visit, &search);
    if (search.count == 0) return Status::not_found;
    if (search.count > 1) return Status::bad_argument;
    return search.found;
}

}  // namespace ouro::os
