#include "image_reader.hpp"

#include <ouro/os/virtual_memory.hpp>

#include <charconv>
#include <cstring>
#include <string>
#include <utility>

namespace ouro {
namespace {

constexpr std::size_t kImageBytes = sizeof(detail::ObserveImage);

// A copy does not begin where its mapping does, so that nobody takes it for the records of this program.
std::size_t copy_offset() {
    return os::page_size();
}

os::Reservation take_memory() {
    auto memory = os::Reservation::create({.bytes = copy_offset() + kImageBytes});
    if (!memory || !memory->commit(0, memory->block().size))
        throw ReportError("there is not enough memory for a copy of the records; close other programs");
    return std::move(*memory);
}

}  // namespace

ImageCopy::ImageCopy() : memory_(take_memory()) {}

std::span<std::byte> ImageCopy::bytes() {
    return {memory_.block().data + copy_offset(), kImageBytes};
}

const detail::ObserveImage& ImageCopy::image() const {
    return *reinterpret_cast<const detail::ObserveImage*>(memory_.block().data + copy_offset());
}

LoadedImage load_target(const std::string& target, std::size_t record_set) {
    std::uint32_t process_id = 0;
    const char* const end = target.data() + target.size();
    const auto parsed = std::from_chars(target.data(), end, process_id);
    const bool is_number = !target.empty() && parsed.ptr == end;
    if (is_number && parsed.ec == std::errc{}) return load_process(process_id, record_set);
    if (record_set > 1) throw ReportError("'" + target + "' is a recording, which holds one set of records");
    return load_recording(target);
}

}  // namespace ouro
