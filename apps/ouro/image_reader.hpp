#pragma once

#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/os/reservation.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ouro {

// Why there is no report, and what to do about it, for the user.
class ReportError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The process is not there any more.
class ProcessEnded : public ReportError {
public:
    using ReportError::ReportError;
};

// The process is there, and keeps no records of what is charged to tags.
class NoRecords : public ReportError {
public:
    NoRecords(const std::string& text, std::uint32_t process_id, std::string mappings)
        : ReportError(text), process_id_(process_id), mappings_(std::move(mappings)) {}
    [[nodiscard]] std::uint32_t process_id() const noexcept { return process_id_; }
    // As visit_mapping_lines gives them.
    [[nodiscard]] const std::string& mappings() const noexcept { return mappings_; }

private:
    std::uint32_t process_id_;
    std::string mappings_;
};

// A copy of a program's records. What it holds comes from elsewhere: every count, number and text in it is
// checked by whoever uses it.
class ImageCopy {
public:
    ImageCopy();
    [[nodiscard]] std::span<std::byte> bytes();
    [[nodiscard]] const detail::ObserveImage& image() const;

private:
    os::Reservation memory_;
};

struct LoadedImage {
    ImageCopy copy;
    std::uint32_t process_id = 0;
    // Of a running process, not of a recording.
    bool is_live = false;
    // os::monotonic_ns of the moment that it shows.
    std::uint64_t taken_ns = 0;
    // How much of the image there was to read.
    std::size_t used_bytes = 0;
    // As visit_mapping_lines gives them.
    std::string mappings;
    // Of a recording: the tables of blocks and tags.
    std::vector<std::byte> blocks;
    std::vector<std::byte> tags;
    // Which of the process's records these are, from one in the order of their addresses: a program has its
    // own, and a preloaded malloc library others.
    std::size_t record_set = 1;
    std::size_t record_sets = 1;
};

// Those with the most in them.
inline constexpr std::size_t kFullestRecords = 0;

// All of them throw ReportError.
[[nodiscard]] LoadedImage load_process(std::uint32_t process_id, std::size_t record_set = kFullestRecords);
[[nodiscard]] LoadedImage load_recording(const std::string& path);
// A number is a process's, everything else a path.
[[nodiscard]] LoadedImage load_target(const std::string& target, std::size_t record_set = kFullestRecords);

}  // namespace ouro
