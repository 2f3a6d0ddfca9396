#include "unwind_tables.hpp"

#include "frame_program.hpp"
#include "table_reader.hpp"

namespace ouro::os {
namespace {

constexpr FrameRule kUnsupported{.kind = FrameKind::unsupported};
constexpr FrameRule kOutermost{.kind = FrameKind::outermost};

// How an address is written (DW_EH_PE_...): the low bits tell its size, others what it counts from.
enum Encoding : std::uint8_t {
    kFormatBits = 0x0F,
    kWhole = 0x00,
    kUnsigned = 0x01,
    kUnsigned2 = 0x02,
    kUnsigned4 = 0x03,
    kUnsigned8 = 0x04,
    kSigned = 0x09,
    kSigned2 = 0x0A,
    kSigned4 = 0x0B,
    kSigned8 = 0x0C,
    kOriginBits = 0xF0,
    kFromZero = 0x00,
    kFromItself = 0x10,
    kFromIndex = 0x30,
};
// The only kind of index that linkers write: offsets from its own start.
constexpr std::uint8_t kSortedIndex = std::uint8_t{kFromIndex} | kSigned4;

// False when the format is not known. Sums wrap around, as those of addresses do.
bool take_number(TableReader& reader, std::uint8_t encoding, std::uint64_t& number) noexcept {
    switch (encoding & kFormatBits) {
        case kWhole:
        case kUnsigned8:
        case kSigned8:
            number = reader.take<std::uint64_t>();
            return true;
        case kUnsigned:
            number = reader.take_unsigned();
            return true;
        case kUnsigned2:
            number = reader.take<std::uint16_t>();
            return true;
        case kUnsigned4:
            number = reader.take<std::uint32_t>();
            return true;
        case kSigned:
            number = static_cast<std::uint64_t>(reader.take_signed());
            return true;
        case kSigned2:
            number = static_cast<std::uint64_t>(std::int64_t{reader.take<std::int16_t>()});
            return true;
        case kSigned4:
            number = static_cast<std::uint64_t>(std::int64_t{reader.take<std::int32_t>()});
            return true;
        default:
            return false;
    }
}

bool take_address(TableReader& reader, std::uint8_t encoding, const UnwindTables& tables,
                  std::uint64_t& address) noexcept {
    const std::uint64_t own = tables.address + reader.position();
    if (!take_number(reader, encoding, address)) return false;
    switch (encoding & kOriginBits) {
        case kFromZero:
            return true;
        case kFromItself:
            address += own;
            return true;
        case kFromIndex:
            address += tables.index;
            return true;
        default:
            return false;
    }
}

// What functions have in common (a CIE).
struct CommonPart {
    ProgramUnits units;
    std::uint8_t addresses = kWhole;
    bool has_more = false;
    bool is_signal = false;
    TableReader program;
};

// What is said of one function (an FDE).
struct FunctionPart {
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    CommonPart common;
    TableReader program;
};

// The reader of one entry, without its length. Entries of 4 GiB and more are nobody's.
TableReader open_entry(const UnwindTables& tables, std::uint64_t offset) noexcept {
    constexpr std::uint32_t kLongEntry = 0xFFFF'FFFF;
    TableReader reader(tables.bytes, offset);
    const auto size = reader.take<std::uint32_t>();
    if (size == kLongEntry || size == 0) return {};
    reader.limit(size);
    return reader;
}

// Goes over what comes with its size before it, and reads that.
TableReader skip_counted(TableReader& reader) noexcept {
    const std::uint64_t size = reader.take_unsigned();
    TableReader counted = reader;
    counted.limit(size);
    reader.skip(size);
    return counted;
}

// The letters after the 'z' say what comes with an entry, in this order.
bool read_letters(TableReader letters, TableReader& values, CommonPart& common) noexcept {
    for (;;) {
        switch (letters.take<char>()) {
            case '\0':
                return values.is_good();
            case 'R':
                common.addresses = values.take<std::uint8_t>();
                break;
            case 'L':
                values.skip(1);
                break;
            case 'P': {
                // Who handles exceptions.
                std::uint64_t ignored = 0;
                if (!take_number(values, values.take<std::uint8_t>(), ignored)) return false;
                break;
            }
            case 'S':
                common.is_signal = true;
                break;
            default:
                return false;
        }
    }
}

bool read_common(const UnwindTables& tables, std::uint64_t offset, CommonPart& common) noexcept {
    constexpr std::uint8_t kReturnAddress = 16;
    TableReader reader = open_entry(tables, offset);
    if (reader.take<std::uint32_t>() != 0) return false;
    const auto version = reader.take<std::uint8_t>();
    if (version != 1 && version != 3) return false;
    TableReader letters = reader;
    while (reader.take<char>() != '\0')
        ;
    common.units.code = reader.take_unsigned();
    common.units.data = reader.take_signed();
    // One byte in the first version, and the same for a number this small.
    if (reader.take_unsigned() != kReturnAddress) return false;
    common.program = reader;
    const char first = letters.take<char>();
    if (first == '\0') return reader.is_good();
    if (first != 'z') return false;
    common.has_more = true;
    TableReader values = skip_counted(common.program);
    return read_letters(letters, values, common) && common.program.is_good();
}

bool read_function(const UnwindTables& tables, std::uint64_t offset, FunctionPart& function) noexcept {
    TableReader reader = open_entry(tables, offset);
    const std::size_t own = reader.position();
    // The common part lies this far before.
    const auto distance = reader.take<std::uint32_t>();
    if (!reader.is_good() || distance == 0 || distance > own) return false;
    CommonPart& common = function.common;
    if (!read_common(tables, own - distance, common)) return false;
    if (!take_address(reader, common.addresses, tables, function.start)) return false;
    if (!take_number(reader, common.addresses, function.size)) return false;
    if (common.has_more) static_cast<void>(skip_counted(reader));
    function.program = reader;
    return reader.is_good();
}

// The index: pairs of where a function starts and where its entry is.
class FunctionIndex {
public:
    explicit FunctionIndex(const UnwindTables& tables) noexcept
        : tables_(tables), pairs_(tables.bytes, tables.index - tables.address) {
        const auto version = pairs_.take<std::uint8_t>();
        const auto entries_encoding = pairs_.take<std::uint8_t>();
        const auto count_encoding = pairs_.take<std::uint8_t>();
        const bool is_sorted = pairs_.take<std::uint8_t>() == kSortedIndex;
        std::uint64_t entries = 0;
        const bool is_known = version == 1 && is_sorted && count_encoding <= kFormatBits &&
                              take_address(pairs_, entries_encoding, tables, entries) &&
                              take_number(pairs_, count_encoding, count_);
        if (!is_known || count_ > pairs_.left() / kPairBytes) count_ = 0;
    }

    [[nodiscard]] bool is_good() const noexcept { return count_ != 0; }

    // The entry of the last function that starts no later, as an offset in the tables; false: there is none.
    bool find(std::uint64_t address, std::uint64_t& entry) const noexcept {
        const auto wanted = static_cast<std::int64_t>(address - tables_.index);
        std::uint64_t first = 0;
        std::uint64_t end = count_;
        while (first < end) {
            const std::uint64_t middle = first + (end - first) / 2;
            if (number_at(middle, 0) <= wanted)
                first = middle + 1;
            else
                end = middle;
        }
        if (first == 0) return false;
        const std::int64_t distance = number_at(first - 1, sizeof(std::int32_t));
        entry = tables_.index - tables_.address + static_cast<std::uint64_t>(distance);
        return true;
    }

private:
    static constexpr std::size_t kPairBytes = 2 * sizeof(std::int32_t);

    [[nodiscard]] std::int64_t number_at(std::uint64_t pair, std::size_t offset) const noexcept {
        TableReader reader = pairs_;
        reader.skip(pair * kPairBytes + offset);
        return reader.take<std::int32_t>();
    }

    const UnwindTables& tables_;
    TableReader pairs_;
    std::uint64_t count_ = 0;
};

}  // namespace

FrameRule find_frame_rule(const UnwindTables& tables, std::uint64_t address) noexcept {
    const FunctionIndex index(tables);
    if (!index.is_good()) return kUnsupported;
    std::uint64_t entry = 0;
    if (!index.find(address, entry)) return kOutermost;
    FunctionPart function;
    if (!read_function(tables, entry, function)) return kUnsupported;
    if (address - function.start >= function.size) return kOutermost;
    const CommonPart& common = function.common;
    if (common.is_signal) return kUnsupported;
    FrameRow row;
    // The common part holds from before the function on.
    if (!run_frame_program(common.program, common.units, 0, ~std::uint64_t{0}, row)) return kUnsupported;
    if (!run_frame_program(function.program, common.units, function.start, address, row)) return kUnsupported;
    return rule_of(row);
}

}  // namespace ouro::os
