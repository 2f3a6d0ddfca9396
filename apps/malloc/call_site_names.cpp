#include "call_site_names.hpp"

#include <cstddef>
#include <cstdint>

#include <dlfcn.h>

namespace ouro::process_heap {
namespace {

// What does not fit is left out; the text always ends with a zero byte.
class Writer {
public:
    explicit Writer(std::span<char> text) noexcept : text_(text) {
        if (!text_.empty()) text_[0] = '\0';
    }

    Writer& add(const char* text) noexcept {
        for (; *text != '\0'; ++text)
            add_character(*text);
        return *this;
    }

    Writer& add_offset(const void* address, const void* base) noexcept {
        const std::uintptr_t offset =
            reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base);
        add("+0x");
        unsigned shift = sizeof(offset) * 8 - 4;
        while (shift != 0 && offset >> shift == 0)
            shift -= 4;
        for (;; shift -= 4) {
            add_character("0123456789abcdef"[offset >> shift & 15]);
            if (shift == 0) return *this;
        }
    }

private:
    void add_character(char character) noexcept {
        if (length_ + 1 >= text_.size()) return;
        text_[length_++] = character;
        text_[length_] = '\0';
    }

    std::span<char> text_;
    std::size_t length_ = 0;
};

}  // namespace

void name_call_site(const void* address, std::span<char> text) {
    Writer writer(text);
    Dl_info info{};
    if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return;
    Dl_info own{};
    static_cast<void>(::dladdr(reinterpret_cast<const void*>(&name_call_site), &own));
    if (info.dli_fbase == own.dli_fbase) {
        writer.add("(libouroboros-malloc)");
        return;
    }
    if (info.dli_sname != nullptr) writer.add(info.dli_sname).add_offset(address, info.dli_saddr).add(" ");
    writer.add("(").add(info.dli_fname).add_offset(address, info.dli_fbase).add(")");
}

}  // namespace ouro::process_heap
