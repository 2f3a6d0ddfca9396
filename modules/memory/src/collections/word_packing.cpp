#include <ouro/base/assert.hpp>
#include <ouro/memory/collections/word_packing.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace ouro {
namespace {

constexpr std::size_t kGroup = 8;
constexpr std::uint64_t kLongestRun = 255;
enum Form : std::uint8_t { stored = 0, packed_words = 1 };

// Writes tokens until they would need as much as the plain values.
class TokenWriter {
public:
    explicit TokenWriter(std::span<std::byte> room) noexcept
        : next_(room.data()), end_(next_ + room.size()) {}

    // False when the room is used up.
    [[nodiscard]] bool put(std::uint64_t word) noexcept {
        if (word == 0) {
            if (++run_ < kLongestRun) return true;
            return put_run();
        }
        return put_run() && put_word(word);
    }
    [[nodiscard]] bool put_run() noexcept {
        if (run_ == 0) return true;
        if (end_ - next_ < 2) return false;
        *next_++ = std::byte{0};
        *next_++ = static_cast<std::byte>(run_);
        run_ = 0;
        return true;
    }
    [[nodiscard]] const std::byte* next() const noexcept { return next_; }

private:
    [[nodiscard]] bool put_word(std::uint64_t word) noexcept {
        if (end_ - next_ < static_cast<std::ptrdiff_t>(1 + kGroup)) return false;
        std::byte* const mask_place = next_++;
        unsigned mask = 0;
        for (unsigned i = 0; i < kGroup; ++i) {
            const auto byte = static_cast<std::uint8_t>(word >> (8 * i));
            *next_ = std::byte{byte};
            next_ += byte != 0 ? 1 : 0;
            mask |= (byte != 0 ? 1U : 0U) << i;
        }
        *mask_place = static_cast<std::byte>(mask);
        return true;
    }

    std::byte* next_;
    std::byte* end_;
    std::uint64_t run_ = 0;
};

// Reads what TokenWriter wrote, or anything else, without leaving the bytes given.
class TokenReader {
public:
    explicit TokenReader(std::span<const std::byte> bytes) noexcept
        : next_(bytes.data()), end_(next_ + bytes.size()) {}

    [[nodiscard]] bool take(std::uint64_t& word) noexcept {
        word = 0;
        if (run_ != 0) {
            --run_;
            return true;
        }
        if (next_ == end_) return false;
        const auto mask = static_cast<unsigned>(*next_++);
        if (mask == 0) return take_run();
        if (end_ - next_ < std::popcount(mask)) return false;
        for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
            word |= std::uint64_t{static_cast<std::uint8_t>(*next_++)} << (8 * std::countr_zero(rest));
        }
        return true;
    }
    [[nodiscard]] bool is_at_end() const noexcept { return next_ == end_ && run_ == 0; }

private:
    [[nodiscard]] bool take_run() noexcept {
        if (next_ == end_ || *next_ == std::byte{0}) return false;
        run_ = static_cast<std::uint64_t>(*next_++) - 1;
        return true;
    }

    const std::byte* next_;
    const std::byte* end_;
    std::uint64_t run_ = 0;
};

// Up to eight bytes of one plane, each XORed with the value before; `previous` is the byte before the first.
std::uint64_t gather_word(const std::byte* bytes, std::size_t stride, std::size_t count,
                          std::uint8_t& previous) noexcept {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < count; ++i)
        word |= std::uint64_t{static_cast<std::uint8_t>(bytes[i * stride])} << (8 * i);
    const std::uint64_t changes = word ^ (word << 8 | previous);
    previous = static_cast<std::uint8_t>(word >> (8 * (count - 1)));
    return count == kGroup ? changes : changes & ((std::uint64_t{1} << (8 * count)) - 1);
}

void scatter_word(std::uint64_t word, std::byte* bytes, std::size_t stride, std::size_t count,
                  std::uint8_t& previous) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        previous = static_cast<std::uint8_t>(previous ^ static_cast<std::uint8_t>(word >> (8 * i)));
        bytes[i * stride] = std::byte{previous};
    }
}

// What a word of zeros says, which most are: the same byte again.
void repeat_byte(std::byte* bytes, std::size_t stride, std::uint8_t byte) noexcept {
    for (std::size_t i = 0; i < kGroup; ++i)
        bytes[i * stride] = std::byte{byte};
}

bool pack_plane(const std::byte* plane, std::size_t stride, std::size_t count, TokenWriter& writer) noexcept {
    std::uint8_t previous = 0;
    std::size_t at = 0;
    // A constant count lets the compiler unroll.
    for (; at + kGroup <= count; at += kGroup) {
        if (!writer.put(gather_word(plane + at * stride, stride, kGroup, previous))) return false;
    }
    return at == count || writer.put(gather_word(plane + at * stride, stride, count - at, previous));
}

bool unpack_plane(TokenReader& reader, std::byte* plane, std::size_t stride, std::size_t count) noexcept {
    std::uint8_t previous = 0;
    std::uint64_t word = 0;
    std::size_t at = 0;
    for (; at + kGroup <= count; at += kGroup) {
        if (!reader.take(word)) return false;
        if (word == 0) {
            repeat_byte(plane + at * stride, stride, previous);
        } else {
            scatter_word(word, plane + at * stride, stride, kGroup, previous);
        }
    }
    if (at == count) return true;
    const std::size_t left = count - at;
    // The padding of the last word is zero; anything else was not written by us.
    if (!reader.take(word) || word >> (8 * left) != 0) return false;
    scatter_word(word, plane + at * stride, stride, left, previous);
    return true;
}

}  // namespace

std::size_t pack_values(std::span<const std::byte> values, std::size_t stride,
                        std::span<std::byte> packed) noexcept {
    OURO_ASSERT(stride != 0 && values.size() % stride == 0, "values are whole multiples of their stride");
    OURO_ASSERT(packed.size() >= packed_bound(values.size()), "there is not enough room to pack");
    if (values.empty()) return 0;
    const std::size_t count = values.size() / stride;
    TokenWriter writer(packed.subspan(1, values.size()));
    bool smaller = true;
    for (std::size_t plane = 0; plane < stride && smaller; ++plane)
        smaller = pack_plane(values.data() + plane, stride, count, writer);
    if (smaller && writer.put_run()) {
        packed[0] = std::byte{packed_words};
        return static_cast<std::size_t>(writer.next() - packed.data());
    }
    packed[0] = std::byte{stored};
    std::memcpy(packed.data() + 1, values.data(), values.size());
    return values.size() + 1;
}

Status unpack_values(std::span<const std::byte> packed, std::size_t stride,
                     std::span<std::byte> values) noexcept {
    OURO_ASSERT(stride != 0 && values.size() % stride == 0, "values are whole multiples of their stride");
    if (values.empty()) return packed.empty() ? Status::ok : Status::corrupt_data;
    if (packed.empty()) return Status::corrupt_data;
    const auto form = static_cast<std::uint8_t>(packed[0]);
    packed = packed.subspan(1);
    if (form == stored) {
        if (packed.size() != values.size()) return Status::corrupt_data;
        std::memcpy(values.data(), packed.data(), packed.size());
        return Status::ok;
    }
    if (form != packed_words) return Status::corrupt_data;
    TokenReader reader(packed);
    for (std::size_t plane = 0; plane < stride; ++plane) {
        if (!unpack_plane(reader, values.data() + plane, stride, values.size() / stride))
            return Status::corrupt_data;
    }
    return reader.is_at_end() ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
