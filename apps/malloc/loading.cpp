// What happens when the library is loaded. Everything that malloc itself needs was set up by its first call,
// which may have come earlier.
#include "idle_return.hpp"
#include "new_delete.hpp"
#include "process_heap.hpp"
#include "profiled_blocks.hpp"
#include "statistics.hpp"

#include <cerrno>
#include <cstdlib>

#include <signal.h>

// Code that is not optimised keeps the throwing half of what std::string_view never does. Without the C++
// runtime somebody has to stand in for it.
extern "C" [[noreturn, gnu::visibility("hidden"), gnu::used]] void ouro_never_out_of_range(
    const char*, ...) __asm__("_ZSt24__throw_out_of_range_fmtPKcz");
void ouro_never_out_of_range(const char*, ...) {
    std::abort();
}

namespace ouro::process_heap {
namespace {

extern "C" void ouro_do_as_signalled(int number) {
    const int saved_errno = errno;
    if (number == settings().report_signal) write_report(ReportFormat::text);
    if (number == settings().profile_signal) ask_for_profile();
    errno = saved_errno;
}

void listen_for_signal(int number) noexcept {
    struct sigaction action = {};
    action.sa_handler = ouro_do_as_signalled;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
}

[[gnu::constructor]] void prepare() noexcept {
    start_early();
    note_begin_of_profile();
    look_for_replaced_operators();
    allow_background_thread();
    for (const int number : {settings().report_signal, settings().profile_signal}) {
        if (number != 0) listen_for_signal(number);
    }
}

}  // namespace
}  // namespace ouro::process_heap
