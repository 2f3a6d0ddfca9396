#include "code_object.hpp"

#include "table_reader.hpp"

#include <ouro/base/hash.hpp>

#include <atomic>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

// Older C libraries than the one that this was built with do not have it.
#pragma weak _dl_find_object

namespace ouro::os {
namespace {

// The least that is mapped of whatever is, and what the linker puts all headers into.
constexpr std::size_t kPageBytes = 4096;

std::span<const std::byte> first_page_of(const CodeObject& object) noexcept {
    return {reinterpret_cast<const std::byte*>(object.start), kPageBytes};
}

// Program headers one by one.
class ProgramHeaders {
public:
    // Those of a library; none when its first page does not begin as one does.
    explicit ProgramHeaders(std::span<const std::byte> first_page) noexcept {
        TableReader reader(first_page, 0);
        const auto header = reader.take<Elf64_Ehdr>();
        if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
            header.e_phentsize != sizeof(Elf64_Phdr))
            return;
        reader_ = TableReader(first_page, header.e_phoff);
        left_ = header.e_phnum;
    }

    // Those of the program, as the kernel told it.
    static ProgramHeaders of_program() noexcept {
        ProgramHeaders headers;
        const auto* const start = reinterpret_cast<const std::byte*>(::getauxval(AT_PHDR));
        if (start == nullptr || ::getauxval(AT_PHENT) != sizeof(Elf64_Phdr)) return headers;
        headers.left_ = ::getauxval(AT_PHNUM);
        headers.reader_ = TableReader({start, headers.left_ * sizeof(Elf64_Phdr)}, 0);
        return headers;
    }

    bool next(Elf64_Phdr& header) noexcept {
        if (left_ == 0) return false;
        --left_;
        header = reader_.take<Elf64_Phdr>();
        return reader_.is_good();
    }

private:
    ProgramHeaders() noexcept = default;

    TableReader reader_;
    std::size_t left_ = 0;
};

// What distinguishes the addresses of a library in memory from those in its file.
bool find_bias(const CodeObject& object, ProgramHeaders headers, std::uint64_t& bias) noexcept {
    for (Elf64_Phdr header; headers.next(header);) {
        if (header.p_type != PT_LOAD) continue;
        bias = object.start - (header.p_vaddr & ~std::uint64_t{kPageBytes - 1});
        return true;
    }
    return false;
}

// The part of memory that the index lies in, of those that the headers tell of inside of a range.
UnwindTables find_tables(ProgramHeaders headers, std::uint64_t bias, std::uintptr_t index, std::uintptr_t low,
                         std::uintptr_t high) noexcept {
    for (Elf64_Phdr header; headers.next(header);) {
        if (header.p_type != PT_LOAD || (header.p_flags & PF_R) == 0) continue;
        const std::uint64_t start = bias + header.p_vaddr;
        const bool is_inside = start >= low && start < high && header.p_filesz <= high - start;
        if (!is_inside || index - start >= header.p_filesz) continue;
        return {
            .bytes = {reinterpret_cast<const std::byte*>(start), static_cast<std::size_t>(header.p_filesz)},
            .address = start,
            .index = index};
    }
    return {};
}

std::size_t find_build_id_in(std::span<const std::byte> page, const Elf64_Phdr& notes) noexcept {
    TableReader reader(page, notes.p_offset);
    reader.limit(notes.p_filesz);
    const std::uint64_t alignment = notes.p_align == 8 ? 8 : 4;
    while (reader.has_more()) {
        const std::size_t start = reader.position();
        const auto note = reader.take<Elf64_Nhdr>();
        if (!build_id_at(page, start).empty()) return start;
        const auto round = [=](std::uint64_t size) { return (size + alignment - 1) / alignment * alignment; };
        reader.skip(round(note.n_namesz));
        reader.skip(round(note.n_descsz));
    }
    return 0;
}

// Where the build ids of objects were found: the address of a page, and in its low bits a place in it, in
// words. Written by whoever comes by; a place is looked at before it is believed.
constexpr std::size_t kPlaces = 64;
constexpr std::size_t kPlaceWord = 4;
constinit std::array<std::atomic<std::uint64_t>, kPlaces> g_build_ids;

std::span<const std::byte> build_id_of(const CodeObject& object) noexcept {
    const std::span<const std::byte> page = first_page_of(object);
    auto& place = g_build_ids[mix_bits(object.start) % kPlaces];
    const std::uint64_t known = place.load(std::memory_order_relaxed);
    if ((known & ~std::uint64_t{kPageBytes - 1}) == object.start) {
        const auto id = build_id_at(page, static_cast<std::size_t>(known % kPageBytes) * kPlaceWord);
        if (!id.empty()) return id;
    }
    const std::size_t offset = find_build_id(page);
    if (offset != 0) place.store(object.start | offset / kPlaceWord, std::memory_order_relaxed);
    return build_id_at(page, offset);
}

// Libraries without a build id could be anything.
std::uint64_t identify(const CodeObject& object) noexcept {
    std::span<const std::byte> id;
    if (object.program == nullptr) {
        id = build_id_of(object);
        if (id.empty()) return 0;
    }
    std::uint64_t identity = hash_bytes(id, object.start);
    identity = combine_hash(identity, object.end);
    identity = combine_hash(identity, object.index);
    return identity != 0 ? identity : 1;
}

// The dynamic linker's name for the program, once it was seen.
constinit std::atomic<const void*> g_program = nullptr;

bool is_program(const link_map* map) noexcept {
    if (map == nullptr) return false;
    if (map == g_program.load(std::memory_order_relaxed)) return true;
    // Libraries that start a list of their own have names.
    if (map->l_prev != nullptr || map->l_name == nullptr || map->l_name[0] != '\0') return false;
    g_program.store(map, std::memory_order_relaxed);
    return true;
}

}  // namespace

UnwindTables tables_of_library(const CodeObject& object, std::span<const std::byte> first_page) noexcept {
    const ProgramHeaders headers(first_page);
    std::uint64_t bias = 0;
    if (!find_bias(object, headers, bias)) return {};
    return find_tables(headers, bias, object.index, object.start, object.end);
}

UnwindTables tables_of(const CodeObject& object) noexcept {
    if (object.program == nullptr) return tables_of_library(object, first_page_of(object));
    return find_tables(ProgramHeaders::of_program(), static_cast<const link_map*>(object.program)->l_addr,
                       object.index, 0, ~std::uintptr_t{0});
}

std::size_t find_build_id(std::span<const std::byte> first_page) noexcept {
    ProgramHeaders headers(first_page);
    for (Elf64_Phdr header; headers.next(header);) {
        if (header.p_type != PT_NOTE || header.p_offset % kPlaceWord != 0) continue;
        if (const std::size_t found = find_build_id_in(first_page, header)) return found;
    }
    return 0;
}

std::span<const std::byte> build_id_at(std::span<const std::byte> first_page, std::size_t offset) noexcept {
    // Shorter ones are not made out of what the object is.
    constexpr std::uint64_t kLeastBytes = 8;
    if (offset == 0) return {};
    TableReader reader(first_page, offset);
    const auto note = reader.take<Elf64_Nhdr>();
    const auto name = reader.take<std::uint32_t>();
    constexpr std::uint32_t kName = 'G' | 'N' << 8 | 'U' << 16;
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(kName) || name != kName) return {};
    if (note.n_descsz < kLeastBytes || note.n_descsz > reader.left()) return {};
    return first_page.subspan(reader.position(), note.n_descsz);
}

const CodeObject* ObjectsOnTheWay::find_other(std::uintptr_t address) noexcept {
    for (const CodeObject& object : objects_) {
        if (object.contains(address)) return last_ = &object;
    }
    dl_find_object found{};
    if (_dl_find_object == nullptr) return nullptr;
    if (::_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return nullptr;
    CodeObject object{.start = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start),
                      .end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end),
                      .index = reinterpret_cast<std::uintptr_t>(found.dlfo_eh_frame)};
    if (object.index == 0 || object.start % kPageBytes != 0) return nullptr;
    if (is_program(found.dlfo_link_map)) object.program = found.dlfo_link_map;
    object.identity = identify(object);
    CodeObject& kept = objects_[next_++ % objects_.size()];
    kept = object;
    return last_ = &kept;
}

}  // namespace ouro::os
