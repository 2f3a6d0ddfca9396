#include "frame_names.hpp"

#include <ouro/os/code_mappings.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace ouro::detail {
namespace {

std::string_view file_name_of(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
    return path;
}

}  // namespace

ModuleTable::ModuleTable() noexcept {
    static_cast<void>(os::for_each_code_mapping(
        [](const os::CodeMapping& mapping, void* context) {
            auto& table = *static_cast<ModuleTable*>(context);
            if (table.count_ == kMostModules) return false;
            Module& module = table.modules_[table.count_++];
            module.begin = mapping.begin;
            module.end = mapping.end;
            module.file_offset = mapping.file_offset;
            module.address_in_file = mapping.address_in_file;
            const std::string_view name = file_name_of(mapping.path);
            std::copy_n(name.data(), std::min(name.size(), module.name.size() - 1), module.name.data());
            return true;
        },
        this));
}

const ModuleTable::Module* ModuleTable::find(std::uint64_t address) const noexcept {
    const Module* const end = modules_.data() + count_;
    const Module* const found = std::upper_bound(
        modules_.data(), end, address,
        [](std::uint64_t wanted, const Module& module) noexcept { return wanted < module.end; });
    return found != end && address >= found->begin ? found : nullptr;
}

std::string_view FrameNamer::name(std::uint64_t address) noexcept {
    text_[0] = '\0';
    if (names_.describe != nullptr) names_.describe(names_.context, address, text_);
    text_.back() = '\0';
    if (text_[0] != '\0') return std::string_view(text_.data(), std::strlen(text_.data()));
    const ModuleTable::Module* const module = modules_.find(address);
    char* at = text_.data();
    if (module != nullptr) {
        const std::size_t length = std::strlen(module->name.data());
        at = std::copy_n(module->name.data(), length, at);
        *at++ = '+';
        address = address - module->begin + module->address_in_file;
    }
    *at++ = '0';
    *at++ = 'x';
    at = std::to_chars(at, text_.data() + text_.size(), address, 16).ptr;
    return std::string_view(text_.data(), static_cast<std::size_t>(at - text_.data()));
}

}  // namespace ouro::detail
