#pragma once

#include "settings.hpp"

namespace ouro::process_heap {

// Writes a report to standard error. May be called at any time, in a signal handler too; the numbers fit
// together when no other thread is at work.
void write_report(ReportFormat format) noexcept;

}  // namespace ouro::process_heap
