#include "panic.hpp"

#include "abort.hpp"
#include "host.hpp"

#include <cstddef>

namespace ouro {
namespace {

// Collects the line, so that another thread's output does not come in between, as long as it fits.
class ErrorLine {
public:
    ErrorLine() noexcept = default;
    ~ErrorLine() { flush(); }
    ErrorLine(const ErrorLine&) = delete;
    ErrorLine& operator=(const ErrorLine&) = delete;

    ErrorLine& add(const char* text) noexcept {
        for (; *text != '\0'; ++text)
            add(*text);
        return *this;
    }

    ErrorLine& add(std::uint32_t number) noexcept {
        if (number >= 10) add(number / 10);
        add(static_cast<char>('0' + number % 10));
        return *this;
    }

private:
    void add(char letter) noexcept {
        if (size_ == sizeof(text_)) flush();
        text_[size_++] = letter;
    }

    void flush() noexcept {
        wasm_host::write(2, text_, size_);
        size_ = 0;
    }

    char text_[1024];
    std::size_t size_ = 0;
};

}  // namespace

void write_error(const AssertFailure& failure) noexcept {
    ErrorLine line;
    line.add(failure.file).add(":").add(failure.line).add(": assertion `").add(failure.condition);
    line.add("` failed: ").add(failure.message).add("\n");
}

void abort_process() noexcept {
    wasm::abort_with("an assertion failed");
}

}  // namespace ouro
