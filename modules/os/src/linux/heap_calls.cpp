#include "heap_stand_ins.hpp"
#include "loaded_object.hpp"

#include <ouro/base/align.hpp>
#include <ouro/os/heap_calls.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <array>
#include <atomic>
#include <cstdint>

#include <dlfcn.h>

namespace ouro::os {
namespace {

// A place that holds the address of a function of another library, and what it held before.
struct Import {
    void** slot;
    void* original;
    // The loader made it read-only when it was done.
    bool is_protected;
    // The first of a library keeps it from being unloaded.
    void* library = nullptr;
};

std::array<Import, HeapCallWatch::kMaxImports> imports;
std::atomic<bool> is_watched = false;

// The two kinds of relocation that fill in such places.
struct RelocationKinds {
    std::uint32_t by_pointer = 0;
    std::uint32_t by_call = 0;
};

RelocationKinds kinds_of(const LoadedObject& object) noexcept {
    for (const ElfW(Phdr) & segment : object.segments) {
        if (segment.p_type != PT_LOAD || segment.p_offset != 0) continue;
        const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(object.base + segment.p_vaddr);
        if (header->e_machine == EM_X86_64) return {R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT};
        if (header->e_machine == EM_AARCH64) return {R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT};
    }
    return {};
}

bool is_read_only(const LoadedObject& object, std::uintptr_t address) noexcept {
    const ElfW(Phdr)* relro = object.segment(PT_GNU_RELRO);
    if (relro == nullptr) return false;
    // The loader protects whole pages, up to the last that ends within.
    const std::uintptr_t begin = align_down(object.base + relro->p_vaddr, page_size());
    const std::uintptr_t end = align_down(object.base + relro->p_vaddr + relro->p_memsz, page_size());
    return address >= begin && address < end;
}

Status write_slot(const Import& import, void* value) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(import.slot);
    const MemoryBlock page{reinterpret_cast<std::byte*>(align_down(address, page_size())), page_size()};
    if (import.is_protected) {
        if (const auto opened = protect(page, Protection::read_write); !opened) return opened.status();
    }
    // Others may be calling through it at this moment.
    std::atomic_ref<void*>(*import.slot).store(value, std::memory_order_release);
    // A page that stays open does no harm.
    if (import.is_protected) (void)protect(page, Protection::read);
    return Status::ok;
}

const HeapStandIn* stand_in_for(std::string_view name) noexcept {
    for (const HeapStandIn& each : heap_stand_ins())
        if (name == each.name) return &each;
    return nullptr;
}

// Replaces the addresses in one table of relocations.
Status redirect_table(const LoadedObject& object, std::span<const ElfW(Rela)> table, RelocationKinds kinds,
                      std::size_t& count) noexcept {
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(object.dynamic_address(DT_SYMTAB));
    const auto* names = reinterpret_cast<const char*>(object.dynamic_address(DT_STRTAB));
    for (const ElfW(Rela) & each : table) {
        const auto kind = static_cast<std::uint32_t>(ELF64_R_TYPE(each.r_info));
        if (kind != kinds.by_pointer && kind != kinds.by_call) continue;
        const HeapStandIn* stand_in = stand_in_for(names + symbols[ELF64_R_SYM(each.r_info)].st_name);
        if (stand_in == nullptr || !find_original(*stand_in)) continue;
        if (count == imports.size()) return Status::capacity_exhausted;
        const std::uintptr_t address = object.base + each.r_offset;
        Import& import = imports[count];
        import = {.slot = reinterpret_cast<void**>(address),
                  .original = std::atomic_ref<void*>(*reinterpret_cast<void**>(address)).load(),
                  .is_protected = is_read_only(object, address)};
        // A library named twice.
        if (import.original == stand_in->function) continue;
        if (const Status status = write_slot(import, stand_in->function); status != Status::ok) return status;
        ++count;
    }
    return Status::ok;
}

Status redirect_tables(const LoadedObject& object, std::size_t& count) noexcept {
    const RelocationKinds kinds = kinds_of(object);
    const bool has_calls = object.dynamic_address(DT_JMPREL) != 0;
    if (kinds.by_call == 0 || (has_calls && object.dynamic(DT_PLTREL) != DT_RELA))
        return Status::not_supported;
    struct Table {
        ElfW(Sxword) begin;
        ElfW(Sxword) bytes;
    };
    for (const Table& each : {Table{DT_JMPREL, DT_PLTRELSZ}, Table{DT_RELA, DT_RELASZ}}) {
        const auto* first = reinterpret_cast<const ElfW(Rela)*>(object.dynamic_address(each.begin));
        if (first == nullptr) continue;
        const std::span table(first, object.dynamic(each.bytes) / sizeof(ElfW(Rela)));
        if (const Status status = redirect_table(object, table, kinds, count); status != Status::ok)
            return status;
    }
    return Status::ok;
}

Status redirect(std::string_view name, std::size_t& count) noexcept {
    const auto object = find_loaded_object(name);
    if (!object) return object.status();
    // The program itself is there for good.
    void* const library = name.empty() ? nullptr : ::dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr && !name.empty()) return Status::not_found;
    const std::size_t first = count;
    const Status status = redirect_tables(*object, count);
    if (count != first) {
        imports[first].library = library;
    } else if (library != nullptr) {
        ::dlclose(library);
    }
    return status;
}

// One that cannot be written any more stays redirected, and passes its calls on.
void put_back(std::size_t count) noexcept {
    for (const Import& import : std::span(imports).first(count))
        (void)write_slot(import, import.original);
}

// Which may be the end of them.
void let_go_of_libraries(std::size_t count) noexcept {
    for (const Import& import : std::span(imports).first(count))
        if (import.library != nullptr) ::dlclose(import.library);
}

}  // namespace

Expected<HeapCallWatch> HeapCallWatch::create(std::span<const std::string_view> libraries,
                                              HeapCallFunction function, void* context) noexcept {
    if (libraries.empty()) return Status::zero_size;
    if (is_watched.exchange(true, std::memory_order_acquire)) return Status::busy;
    std::size_t count = 0;
    for (const std::string_view library : libraries) {
        const Status status = redirect(library, count);
        if (status == Status::ok) continue;
        put_back(count);
        let_go_of_libraries(count);
        is_watched.store(false, std::memory_order_release);
        return status;
    }
    tell_heap_calls(function, context);
    return HeapCallWatch(count);
}

HeapCallWatch::~HeapCallWatch() {
    if (import_count_ == kNone) return;
    // Put back before the wait, so that calls that go on do not make it long.
    put_back(import_count_);
    tell_heap_calls(nullptr, nullptr);
    let_go_of_libraries(import_count_);
    is_watched.store(false, std::memory_order_release);
}

}  // namespace ouro::os
