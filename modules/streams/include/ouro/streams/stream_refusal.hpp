#pragma once

#include <ouro/base/status.hpp>
#include <ouro/memory/block_registry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

// A status says why something was refused; this says to whom, and how large it was then. The last one is kept
// by the stream and by its table.
struct StreamRefusal {
    // ok: nothing was ever refused.
    Status status = Status::ok;
    std::array<char, kBlockNameBytes> name_text{};
    // The bytes from the stream's front that were asked for; of a stream that could not be opened, its size.
    std::size_t wanted_bytes = 0;
    std::size_t reserved_bytes = 0;
    std::size_t committed_bytes = 0;
    // How many there were until now, this one included.
    std::uint64_t number = 0;

    [[nodiscard]] std::string_view name() const noexcept { return name_text.data(); }
};

// Writes it as a sentence, cut where the text is full, with a zero at the end: "stream 'frames' was refused
// 70000 bytes: capacity_exhausted (65536 reserved, 65536 committed)". Returns what was written, without the
// zero.
std::string_view describe_refusal(const StreamRefusal& refusal, std::span<char> text) noexcept;

}  // namespace ouro
