#pragma once

#include <ouro/base/fixed_string.hpp>
#include <ouro/base/status.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

// Why World::create refused, beyond its status:
//
//     WorldRefusal refusal;
//     auto world = World::create(ring, options, &refusal);
//     if (!world) return complain(describe_refusal(refusal, text));
struct WorldRefusal {
    Status status = Status::ok;
    FixedString<31> segment;
    // Of the options.
    std::uint32_t max_entities = 0;
    std::uint32_t max_archetypes = 0;
    // What the tables of so many take at least, and what the segment has; zero: there is none of that name.
    std::uint64_t needed_bytes = 0;
    std::uint64_t segment_bytes = 0;
};

// As a sentence, as much as fits, with a zero at the end: "max_entities 1000000 and max_archetypes 1024 need
// 8221312 bytes at least, and segment 'world' has 1048576 (capacity_exhausted)".
[[nodiscard]] std::string_view describe_refusal(const WorldRefusal& refusal, std::span<char> text) noexcept;

}  // namespace ouro
