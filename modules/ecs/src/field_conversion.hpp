#pragma once

#include <ouro/base/field_kind.hpp>
#include <ouro/ecs/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro::detail {

// How a field of a saved component becomes one of today's.
struct FieldCopy {
    enum class Way : std::uint8_t { same, widen_signed, widen_unsigned, widen_floating, text };

    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t from_bytes = 0;
    std::uint32_t to_bytes = 0;
    std::uint32_t count = 0;
    Way way = Way::same;
};

// Empty, or why it cannot be.
[[nodiscard]] std::string_view plan_copy(const FieldRecord& from, const FieldRecord& to,
                                         FieldCopy& copy) noexcept;

// One value. What is not copied is zero.
void convert_value(std::span<const FieldCopy> copies, const std::byte* from,
                   std::span<std::byte> to) noexcept;

}  // namespace ouro::detail
