#pragma once

#include <ouro/base/expected.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace ouro::os {

// Writes a file that others see only whole: the bytes go to a new file beside it, which takes its name at the
// end. Allocates nothing; not synchronised.
class FileOutput {
public:
    static constexpr std::size_t kMaxPathBytes = 1000;

    // Fails with bad_argument (no path, a longer one, or something there that is not a plain file),
    // not_found (the folder), permission_denied, too_many_files, io_error, os_error; not_supported in wasm32.
    [[nodiscard]] static Expected<FileOutput> create(const char* path) noexcept;

    FileOutput(FileOutput&& other) noexcept;
    FileOutput& operator=(FileOutput&&) = delete;
    // Without finish() nothing has happened.
    ~FileOutput();

    // Fails with io_error, when the disk is full too. Then the file cannot be finished any more.
    Expected<void> write(std::span<const std::byte> bytes) noexcept;

    // What was written is on the disk then, and not only on its way there: a machine that stops leaves the
    // file that had the name before, or all of this one. Takes as long as the disk does. Fails with io_error;
    // then the file cannot be finished any more.
    Expected<void> flush() noexcept;

    // The file takes its name, in place of one that had it. Fails with io_error, permission_denied,
    // not_found, bad_argument or os_error. Once: no write and no finish after it.
    Expected<void> finish() noexcept;

private:
    FileOutput() noexcept = default;

    // wasm32 has no files, and uses none of these.
    [[maybe_unused]] int descriptor_ = -1;
    [[maybe_unused]] bool has_failed_ = false;
    [[maybe_unused]] std::array<char, kMaxPathBytes + 1> path_{};
    // With room for what makes it a name of its own.
    [[maybe_unused]] std::array<char, kMaxPathBytes + 48> part_path_{};
};

}  // namespace ouro::os
