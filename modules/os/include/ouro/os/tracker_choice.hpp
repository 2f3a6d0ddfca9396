#pragma once

#include <ouro/os/capabilities.hpp>

#include <string_view>

namespace ouro::os {

// The ways of finding writes that nobody declared.
enum class TrackerKind : unsigned char {
    kernel,   // userfaultfd + PAGEMAP_SCAN
    protect,  // page protection + SIGSEGV
    compare,  // against a shadow copy
};

struct TrackerChoice {
    TrackerKind kind = TrackerKind::compare;
    // One sentence for people: why this one, and what is missing for a faster one.
    std::string_view reason;
};

// The fastest tracker that the report allows for writers which do not declare their writes. Code that
// declares them needs none, on any platform.
[[nodiscard]] TrackerChoice choose_tracker(const Capabilities& capabilities) noexcept;

[[nodiscard]] std::string_view tracker_name(TrackerKind kind) noexcept;

}  // namespace ouro::os
