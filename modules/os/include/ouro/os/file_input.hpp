#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/base/memory_block.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ouro::os {

// A plain file that is read, at any place and in any order: into memory of the caller, or mapped over pages
// that the caller reserved. Allocates nothing. Reading from several threads at once is fine.
class FileInput {
public:
    // Fails with bad_argument (no path, or something there that is not a plain file), not_found,
    // permission_denied, too_many_files, io_error or os_error; not_supported in wasm32.
    [[nodiscard]] static Expected<FileInput> open(const char* path) noexcept;

    FileInput(FileInput&& other) noexcept;
    FileInput& operator=(FileInput&&) = delete;
    ~FileInput();

    // How long the file is at this moment: others may change that between two calls. Fails with io_error or
    // os_error.
    [[nodiscard]] Expected<std::uint64_t> size() const noexcept;

    // Fills the target from the offset on and returns how many bytes that were: fewer than asked only where
    // the file ends. Fails with io_error or size_overflow (an offset that no file reaches); some of the
    // target may have been written then.
    [[nodiscard]] Expected<std::size_t> read_at(std::uint64_t offset,
                                                std::span<std::byte> target) const noexcept;

    // Puts pages of the file in place of reserved or committed ones, without copying: they are read from the
    // file when they are first touched, and writes to them stay in this process. Behind the file's end the
    // last page reads zero. decommit() makes them reserved pages again. Touching a page that the file lost
    // since is a fault. Fails with bad_address or zero_size (no whole pages), bad_argument (an offset that
    // is no multiple of a page), out_of_range (pages wholly behind the file's end), too_many_mappings,
    // out_of_memory, not_supported or io_error; the pages are as they were then.
    Expected<void> map_over(MemoryBlock pages, std::uint64_t offset = 0) const noexcept;

private:
    explicit FileInput(int descriptor) noexcept : descriptor_(descriptor) {}

    // wasm32 has no files, and does not use it.
    [[maybe_unused]] int descriptor_ = -1;
};

}  // namespace ouro::os
