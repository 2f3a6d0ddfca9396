#include "text_writer.hpp"

#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <algorithm>

namespace ouro::detail {
namespace {

struct Detail {
    Detail(std::string_view name, const void* address) noexcept {
        TextWriter text(letters);
        if (address != nullptr) text.add("0x").add_hex(reinterpret_cast<std::uintptr_t>(address));
        if (address != nullptr && !name.empty()) text.add(" ");
        if (!name.empty()) text.add("in '").add(name).add("'");
        length = std::min(text.length(), sizeof(letters) - 1);
    }
    [[nodiscard]] std::string_view text() const noexcept { return {letters, length}; }

    char letters[160];
    std::size_t length;
};

}  // namespace

void block_assert_failed(const char* condition, const char* message, const char* file, std::uint32_t line,
                         const char* name, const void* address) {
    const std::string_view known = name != nullptr ? std::string_view(name) : std::string_view();
    assert_failed(condition, message, Detail(known, address).text(), file, line);
}

void block_assert_failed(const char* condition, const char* message, const char* file, std::uint32_t line,
                         const MemoryResource& resource, const void* address) {
    assert_failed(condition, message, Detail(resource.info().name, address).text(), file, line);
}

}  // namespace ouro::detail
