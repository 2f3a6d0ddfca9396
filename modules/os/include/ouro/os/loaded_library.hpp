#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace ouro::os {

// The variables of a loaded library, which its code writes and no heap knows of.
class LibraryData {
public:
    static constexpr std::size_t kMaxRanges = 16;

    // In ascending order. What the loader alone writes is not among them: tables of addresses of other
    // libraries, and whatever it protected when it was done.
    [[nodiscard]] std::span<const MemoryBlock> ranges() const noexcept { return {ranges_.data(), count_}; }
    [[nodiscard]] std::size_t bytes() const noexcept;
    // Variables of which each thread has its own are not in the ranges; so many bytes a thread.
    [[nodiscard]] std::size_t thread_local_bytes() const noexcept { return thread_local_bytes_; }

    // For the platform's part. False when there is no more room.
    bool add(MemoryBlock range) noexcept;
    // Takes these bytes out of the ranges. False when there is no more room.
    bool remove(MemoryBlock hole) noexcept;
    void set_thread_local_bytes(std::size_t bytes) noexcept { thread_local_bytes_ = bytes; }

private:
    std::array<MemoryBlock, kMaxRanges> ranges_{};
    std::size_t count_ = 0;
    std::size_t thread_local_bytes_ = 0;
};

// Finds a library by the name of its file, with or without what follows ".so": "libsqlite3" and
// "libsqlite3.so.0" are the same. Fails with not_found, bad_argument (no name, or several libraries have it),
// permission_denied (the C library and the loader, whose state is not the program's to change),
// capacity_exhausted (in too many pieces), and not_supported in wasm32.
[[nodiscard]] Expected<LibraryData> find_library_data(std::string_view name) noexcept;

}  // namespace ouro::os
