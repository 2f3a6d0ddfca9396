#pragma once

#include <ouro/base/memory_block.hpp>

#include <cstddef>
#include <cstdint>

// What the trackers of writes have in common. A tracked page is armed: the first write to it is noticed, and
// the page is open from then on until it is armed again.
namespace ouro::os {

// A run of written pages. The layout is the kernel's own, so that a scan fills an array of them directly.
struct WrittenRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t kernel_bits = 0;

    [[nodiscard]] MemoryBlock block() const noexcept {
        return {reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(begin)),
                static_cast<std::size_t>(end - begin)};
    }
};

enum class AfterScan : unsigned char {
    // Written pages stay open: the next scan reports them again.
    leave_open,
    // Written pages are armed in the same step: the next scan reports only what was written after this one.
    // Whoever
    // reads a page after the scan sees every write that the scan reported.
    rearm,
};

struct ScanResult {
    // How many ranges were filled in, in ascending order, none overlapping.
    std::size_t count = 0;
    // Where the scan stopped because the array was full: call again from here. Null when all was scanned.
    std::byte* resume = nullptr;
};

}  // namespace ouro::os
