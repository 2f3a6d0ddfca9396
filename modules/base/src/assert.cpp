#include "panic.hpp"

#include <ouro/base/assert.hpp>

#include <atomic>

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

}  // namespace ouro
