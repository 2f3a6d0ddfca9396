#pragma once

#include <ouro/observe/detail/event_ring.hpp>
#include <ouro/observe/detail/ledger_layout.hpp>
#include <ouro/observe/detail/pressure_image.hpp>
#include <ouro/observe/detail/profile_layout.hpp>
#include <ouro/observe/detail/timeline_layout.hpp>

#include <array>
#include <cstdint>

namespace ouro::detail {

inline constexpr std::array<char, 8> kObserveMagic{'o', 'u', 'r', 'o', 'o', 'b', 's', 0};
inline constexpr std::uint32_t kObserveVersion = 7;

struct ImageHeader {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t process_id;
    std::uint64_t image_bytes;
    // os::monotonic_ns.
    std::uint64_t started_ns;
};

// Everything that observes keeps its records here, at the beginning of a mapping of its own: another process
// finds it by the magic and reads along. The memory is zero at first and taken as it is touched.
struct ObserveImage {
    ImageHeader header;
    EventRing events;
    PressureImage pressure;
    Profile profile;
    TimelineRing timeline;
    Ledger ledger;
};

// Null where even addresses are lacking.
[[nodiscard]] ObserveImage* observe_image() noexcept;
// The same without making one.
[[nodiscard]] ObserveImage* known_image() noexcept;

}  // namespace ouro::detail
