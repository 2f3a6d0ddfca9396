#include <ouro/base/assert.hpp>
#include <ouro/observe/detail/block_trailer.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace ouro::detail {
namespace {

// Some text, cut where it is too long.
class Detail {
public:
    Detail& add(std::string_view text) noexcept {
        const std::size_t count = std::min(text.size(), letters_.size() - length_);
        std::copy_n(text.data(), count, letters_.data() + length_);
        length_ += count;
        return *this;
    }
    Detail& add(std::uint64_t number, int base) noexcept {
        std::array<char, 20> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
        return add({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
    }
    [[nodiscard]] std::string_view text() const noexcept { return {letters_.data(), length_}; }

private:
    std::array<char, 192> letters_;
    std::size_t length_ = 0;
};

}  // namespace

void trailer_assert_failed(const char* message, MemoryBlock block, const MemoryResource& resource, Tag tag) {
    constexpr int kDecimal = 10;
    constexpr int kHexadecimal = 16;
    Detail detail;
    detail.add("0x").add(reinterpret_cast<std::uintptr_t>(block.data), kHexadecimal);
    detail.add(" of ").add(block.size, kDecimal).add(" bytes");
    if (const std::string_view name = resource.info().name; !name.empty())
        detail.add(" in '").add(name).add("'");
    if (!tag.is_untagged()) detail.add(", under the tag '").add(tag_name(tag)).add("'");
    assert_failed("the block's trailer is sound", message, detail.text(), __FILE__, __LINE__);
}

}  // namespace ouro::detail
