#include "block_table_reader.hpp"

#include "image_reader.hpp"
#include "process_errors.hpp"
#include "report_parts.hpp"

#include <ouro/memory/detail/tag_table.hpp>
#include <ouro/os/other_process.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace ouro {
namespace {

constexpr std::array<char, 8> kMagic{'o', 'u', 'r', 'o', 'b', 'l', 'k', '\0'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = offsetof(BlockTable, entries);

// Where variables of a module lie.
struct DataRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::string module;
};

// Variables that begin as zero follow those that lie in the file, in a mapping without a name.
void add_range(std::string_view line, std::vector<DataRange>& ranges, DataRange& before) {
    constexpr int kHexadecimal = 16;
    DataRange range;
    const char* const end = line.data() + line.size();
    const auto start = std::from_chars(line.data(), end, range.start, kHexadecimal);
    if (start.ec != std::errc{} || start.ptr == end) return;
    const auto stop = std::from_chars(start.ptr + 1, end, range.end, kHexadecimal);
    const std::string_view rights(stop.ptr, static_cast<std::size_t>(end - stop.ptr));
    const std::size_t path = line.find('/');
    if (path != std::string_view::npos) {
        range.module = std::string(line.substr(path));
    } else if (range.start == before.end && line.find('[') == std::string_view::npos) {
        range.module = before.module;
    }
    if (rights.starts_with(" rw-p ") && !range.module.empty()) ranges.push_back(range);
    before = std::move(range);
}

std::vector<DataRange> list_ranges(std::uint32_t process_id) {
    struct Found {
        std::vector<DataRange> ranges;
        DataRange before;
        bool has_any = false;
    } found;
    const auto add = [](std::string_view line, void* context) {
        auto& list = *static_cast<Found*>(context);
        list.has_any = true;
        add_range(line, list.ranges, list.before);
        return true;
    };
    const auto visited = os::visit_mapping_lines(process_id, add, &found);
    if (!visited) complain_about_process(process_id, visited.status());
    if (!found.has_any)
        throw ProcessEnded(process_text(process_id) +
                           " has no memory of its own: it is ending, or a part of the system");
    return std::move(found.ranges);
}

struct Search {
    std::uint32_t process_id;
    const DataRange* range;
    std::vector<std::uint64_t> blocks;
    std::vector<std::uint64_t> tags;
    Status status = Status::ok;
};

// Looks for the beginnings of tables in pages that were written.
bool search_run(os::PageRun run, void* context) {
    auto& search = *static_cast<Search*>(context);
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    constexpr std::size_t kStep = alignof(detail::TagTableHead);
    std::vector<std::byte> bytes;
    for (std::size_t done = 0; done < run.bytes; done += bytes.size()) {
        bytes.resize(std::min(kPiece, run.bytes - done));
        const std::uint64_t address = search.range->start + run.offset + done;
        const auto read = os::read_process_memory(search.process_id, address, bytes);
        // It may have been unmapped since.
        if (read.status() == Status::not_mapped) return true;
        search.status = read.status();
        if (!read) return false;
        for (std::size_t at = 0; at + kMagic.size() <= bytes.size(); at += kStep) {
            const std::byte* const place = bytes.data() + at;
            if (std::memcmp(place, kMagic.data(), kMagic.size()) == 0) search.blocks.push_back(address + at);
            if (std::memcmp(place, detail::kTagTableMagic.data(), kMagic.size()) == 0)
                search.tags.push_back(address + at);
        }
    }
    return true;
}

// The bytes there, as far as they are in use. Empty for what only begins like a table.
std::vector<std::byte> copy_table(std::uint32_t process_id, std::uint64_t address) {
    std::vector<std::byte> bytes(kHeaderBytes);
    if (!os::read_process_memory(process_id, address, bytes)) return {};
    std::uint32_t used = 0;
    static_assert(sizeof used == sizeof(BlockTable::used_entries));
    std::memcpy(&used, bytes.data() + offsetof(BlockTable, used_entries), sizeof used);
    if (used > kMaxListedBlocks) return {};
    bytes.resize(kHeaderBytes + used * sizeof(BlockEntry));
    if (!os::read_process_memory(process_id, address, bytes)) return {};
    return bytes;
}

std::vector<std::byte> copy_tags(std::uint32_t process_id, std::uint64_t address) {
    std::vector<std::byte> bytes(sizeof(detail::TagTableHead));
    if (!os::read_process_memory(process_id, address, bytes)) return {};
    std::uint32_t registered = 0;
    std::memcpy(&registered, bytes.data() + offsetof(detail::TagTableHead, registered), sizeof registered);
    if (registered >= kMaxTags) return {};
    bytes.resize(bytes.size() + (registered + std::size_t{1}) * sizeof(detail::TagTableEntry));
    if (!os::read_process_memory(process_id, address, bytes)) return {};
    return bytes;
}

struct Header {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t entry_bytes;
    std::uint32_t capacity;
    std::uint32_t used_entries;
    std::uint64_t unlisted;
};
static_assert(sizeof(Header) == kHeaderBytes && offsetof(Header, unlisted) == offsetof(BlockTable, unlisted));

}  // namespace

bool is_block_table(const std::vector<std::byte>& bytes) {
    return bytes.size() >= kHeaderBytes && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

BlockTableCopy parse_block_table(const std::vector<std::byte>& bytes, const std::string& source) {
    if (!is_block_table(bytes)) throw ReportError(source + " holds no list of blocks");
    Header header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.version != kVersion || header.entry_bytes != sizeof(BlockEntry))
        throw ReportError(
            "the list of blocks in " + source +
            " is of another version of Ouroboros. Use the ouro that was built with the program");
    BlockTableCopy copy;
    copy.unlisted = header.unlisted;
    const std::size_t there = (bytes.size() - sizeof header) / sizeof(BlockEntry);
    for (std::size_t index = 0; index < std::min<std::size_t>(header.used_entries, there); ++index) {
        BlockEntry entry{};
        std::memcpy(&entry, bytes.data() + sizeof header + index * sizeof entry, sizeof entry);
        if (entry.generation % 2 != 0) copy.entries.push_back(entry);
    }
    return copy;
}

std::map<std::uint64_t, std::string> parse_tag_table(const std::vector<std::byte>& bytes) {
    std::map<std::uint64_t, std::string> names;
    std::uint32_t entry_bytes = 0;
    if (bytes.size() < sizeof(detail::TagTableHead)) return names;
    std::memcpy(&entry_bytes, bytes.data() + offsetof(detail::TagTableHead, entry_bytes), sizeof entry_bytes);
    const bool is_table =
        std::memcmp(bytes.data(), detail::kTagTableMagic.data(), detail::kTagTableMagic.size()) == 0;
    if (!is_table || entry_bytes != sizeof(detail::TagTableEntry)) return names;
    const std::size_t there = (bytes.size() - sizeof(detail::TagTableHead)) / entry_bytes;
    for (std::size_t id = 1; id < std::min(there, kMaxTags); ++id) {
        detail::TagTableEntry entry{};
        std::memcpy(&entry, bytes.data() + sizeof(detail::TagTableHead) + id * entry_bytes, entry_bytes);
        names.emplace(id, printable(entry.name));
    }
    return names;
}

std::string block_tag_text(const BlockTableCopy& table, std::uint64_t id) {
    if (id == 0) return "untagged";
    const auto found = table.tag_names.find(id);
    return found == table.tag_names.end() ? "tag " + std::to_string(id) : found->second;
}

std::vector<BlockTableCopy> find_block_tables(std::uint32_t process_id) {
    std::vector<BlockTableCopy> tables;
    // A module's variables lie in several mappings.
    std::map<std::string, std::map<std::uint64_t, std::string>> tag_names;
    for (const DataRange& range : list_ranges(process_id)) {
        Search search{process_id, &range, {}, {}};
        const auto bytes = static_cast<std::size_t>(range.end - range.start);
        const auto visited = os::visit_used_pages(process_id, range.start, bytes, search_run, &search);
        if (!visited) complain_about_process(process_id, visited.status());
        if (search.status != Status::ok) complain_about_process(process_id, search.status);
        for (const std::uint64_t place : search.blocks) {
            const std::vector<std::byte> copy = copy_table(process_id, place);
            if (copy.empty()) continue;
            tables.push_back(parse_block_table(copy, process_text(process_id)));
            tables.back().module = range.module;
        }
        for (const std::uint64_t place : search.tags)
            tag_names[range.module] = parse_tag_table(copy_tags(process_id, place));
    }
    for (BlockTableCopy& table : tables)
        table.tag_names = tag_names[table.module];
    return tables;
}

std::vector<BlockTableCopy> read_block_tables(std::uint32_t process_id) {
    std::vector<BlockTableCopy> tables = find_block_tables(process_id);
    if (!tables.empty()) return tables;
    throw ReportError(process_text(process_id) +
                      " lists no blocks of memory. Build the program with ouroboros::streams and let it open "
                      "a MemoryTable, or give the number of another one");
}

}  // namespace ouro
