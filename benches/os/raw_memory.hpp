#pragma once

#include "harness/must.hpp"

#include <ouro/base/memory_block.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstddef>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace ouro::bench {

// Memory straight from mmap(2): what our wrappers are compared with, and plain storage for the cases.
class RawMapping {
public:
    RawMapping(std::size_t bytes, int protection, int flags, int descriptor = -1)
        : block_{static_cast<std::byte*>(::mmap(nullptr, bytes, protection, flags, descriptor, 0)), bytes} {
        must(static_cast<void*>(block_.data) != MAP_FAILED, "mmap");
    }
    explicit RawMapping(std::size_t bytes)
        : RawMapping(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS) {}
    RawMapping(RawMapping&& other) noexcept : block_(std::exchange(other.block_, {})) {}
    RawMapping& operator=(RawMapping&&) = delete;
    ~RawMapping() {
        if (block_) ::munmap(block_.data, block_.size);
    }

    [[nodiscard]] MemoryBlock block() const noexcept { return block_; }

private:
    MemoryBlock block_;
};

// A memfd by its raw calls.
class RawMemfd {
public:
    explicit RawMemfd(std::size_t bytes)
        : descriptor_(::memfd_create("bench", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
        must(descriptor_ >= 0, "memfd_create");
        must(::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0, "ftruncate");
    }
    RawMemfd(const RawMemfd&) = delete;
    RawMemfd& operator=(const RawMemfd&) = delete;
    ~RawMemfd() { ::close(descriptor_); }

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

// Equal pages for all: what is compared must not depend on the system's mood about huge pages.
inline void forbid_huge_pages(MemoryBlock block) {
    ::madvise(block.data, block.size, MADV_NOHUGEPAGE);
}

// Writes one byte in each step of the block.
inline void touch(MemoryBlock block, std::size_t step) noexcept {
    for (std::size_t offset = 0; offset < block.size; offset += step)
        *reinterpret_cast<volatile unsigned char*>(block.data + offset) = 1;
}

// Prefaulted memory on normal pages, filled with a pattern that is not all zero.
[[nodiscard]] inline RawMapping filled_memory(std::size_t bytes) {
    RawMapping mapping(bytes);
    forbid_huge_pages(mapping.block());
    for (std::size_t i = 0; i < bytes / sizeof(std::size_t); ++i)
        reinterpret_cast<std::size_t*>(mapping.block().data)[i] = i * 0x9e3779b97f4a7c15U;
    return mapping;
}

}  // namespace ouro::bench
