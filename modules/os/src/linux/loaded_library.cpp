#include "loaded_object.hpp"

#include <ouro/os/loaded_library.hpp>

namespace ouro::os {
namespace {

// Locks, streams, the lists of threads and of what is loaded: going back there breaks the process.
bool is_of_the_system(std::string_view name) noexcept {
    for (const std::string_view own : {"libc", "ld-linux", "libpthread", "libdl", "linux-vdso"}) {
        const bool is_it = name.starts_with(own) &&
                           (name.size() == own.size() || name[own.size()] == '.' || name[own.size()] == '-');
        if (is_it) return true;
    }
    return false;
}

MemoryBlock block_of(const LoadedObject& object, const ElfW(Phdr) & segment) noexcept {
    return {reinterpret_cast<std::byte*>(object.base + segment.p_vaddr), segment.p_memsz};
}

}  // namespace

Expected<LibraryData> find_library_data(std::string_view name) noexcept {
    if (name.empty()) return Status::bad_argument;
    if (is_of_the_system(name)) return Status::permission_denied;
    const auto object = find_loaded_object(name);
    if (!object) return object.status();
    LibraryData data;
    bool fits = true;
    for (const ElfW(Phdr) & segment : object->segments) {
        if (segment.p_type == PT_TLS) data.set_thread_local_bytes(segment.p_memsz);
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0)
            fits = data.add(block_of(*object, segment)) && fits;
    }
    if (const ElfW(Phdr)* relro = object->segment(PT_GNU_RELRO); relro != nullptr)
        fits = data.remove(block_of(*object, *relro)) && fits;
    if (const std::span slots = object->lazy_slots(); !slots.empty())
        fits = data.remove({reinterpret_cast<std::byte*>(slots.data()), slots.size_bytes()}) && fits;
    if (!fits) return Status::capacity_exhausted;
    return data;
}

}  // namespace ouro::os
