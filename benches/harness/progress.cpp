#include "harness/progress.hpp"

#include <ouro/os/clock.hpp>

#include <cstdio>

#include <unistd.h>

namespace ouro::bench {
namespace {

constexpr std::uint64_t kTerminalPauseNs = 100'000'000;
constexpr std::uint64_t kLogPauseNs = 10'000'000'000;
constexpr int kWidth = 110;

}  // namespace

Progress::Progress() noexcept
    : terminal_(::isatty(STDERR_FILENO) != 0), next_ns_(os::monotonic_ns() + (terminal_ ? 0 : kLogPauseNs)) {}

void Progress::show(std::string_view text) {
    const std::uint64_t now = os::monotonic_ns();
    if (now < next_ns_) return;
    next_ns_ = now + (terminal_ ? kTerminalPauseNs : kLogPauseNs);
    const int length = static_cast<int>(text.size());
    const int width = length < kWidth ? length : kWidth;
    std::fprintf(stderr, terminal_ ? "\r\033[K%.*s" : "%.*s\n", width, text.data());
    std::fflush(stderr);
    shown_ = true;
}

void Progress::clear() {
    if (terminal_ && shown_) {
        std::fputs("\r\033[K", stderr);
        std::fflush(stderr);
    }
    shown_ = false;
}

}  // namespace ouro::bench
