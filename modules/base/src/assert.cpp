#include "panic.hpp"

#include <ouro/base/assert.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>

namespace ouro {
namespace {

void print_failure(const AssertFailure& failure) {
    write_error(failure);
}

std::atomic<AssertHandler> current_handler{print_failure};

}  // namespace

AssertHandler set_assert_handler(AssertHandler handler) noexcept {
    return current_handler.exchange(handler != nullptr ? handler : print_failure, std::memory_order_acq_rel);
}

void assert_failed(const char* condition, const char* message, const char* file, std::uint32_t line) {
    current_handler.load(std::memory_order_acquire)(AssertFailure{condition, message, file, line});
    abort_process();
}

void assert_failed(const char* condition, const char* message, std::string_view detail, const char* file,
                   std::uint32_t line) {
    // A handler may leave by an exception and take the message with it.
    static char text[256];
    char* end = text;
    for (const std::string_view part : {std::string_view(message), std::string_view(": "), detail}) {
        const auto room = static_cast<std::size_t>(std::end(text) - 1 - end);
        end = std::copy_n(part.data(), std::min(part.size(), room), end);
    }
    *end = '\0';
    assert_failed(condition, text, file, line);
}

}  // namespace ouro
