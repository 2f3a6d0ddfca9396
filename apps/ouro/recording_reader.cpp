#include "image_checks.hpp"
#include "image_reader.hpp"

#include <ouro/observe/detail/recording_format.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace ouro {
namespace {

using detail::RecordingHeader;
using detail::RecordingPart;
using detail::RecordingPartHeader;

// More than any process has mappings for.
constexpr std::size_t kMostMappingBytes = std::size_t{64} << 20;

// More than a table of blocks or tags can have.
constexpr std::size_t kMostTableBytes = std::size_t{1} << 20;

class RecordingReader {
public:
    explicit RecordingReader(const std::string& path) : path_(path) {
        // One would wait for whoever writes to it.
        if (std::error_code error; std::filesystem::is_fifo(path, error))
            throw ReportError("'" + path +
                              "' is a pipe, not a recording; ouro::save_recording(path) writes one");
        errno = 0;
        file_.open(path, std::ios::binary);
        if (file_) return;
        throw ReportError("cannot open '" + path + "': " + std::generic_category().message(errno) +
                          ". Give the number of a running process, or a file written by save_recording()");
    }

    LoadedImage read() {
        LoadedImage loaded;
        RecordingHeader header{};
        const bool is_read = read_bytes(&header, sizeof header);
        // What streams saves begins with this.
        if (is_read && std::memcmp(&header, "ourosave", 8) == 0)
            throw ReportError("'" + path_ +
                              "' is a saved state, not a recording of a program's memory; ouro::load_image "
                              "brings it back into a state ring");
        if (!is_read || header.magic != detail::kRecordingMagic)
            throw ReportError("'" + path_ + "' is not a recording; ouro::save_recording(path) writes one");
        if (header.version != detail::kRecordingVersion)
            throw ReportError("'" + path_ + "' is a recording of version " + std::to_string(header.version) +
                              ", and this program reads version " +
                              std::to_string(detail::kRecordingVersion) +
                              "; use the ouro that was built with the recorded program");
        loaded.process_id = header.process_id;
        loaded.taken_ns = header.saved_ns;
        while (read_part(loaded)) {
        }
        if (file_.peek() != std::ifstream::traits_type::eof()) complain("something follows its end");
        check_image_header(loaded.copy.image().header, "the recording");
        return loaded;
    }

private:
    bool read_bytes(void* target, std::size_t bytes) {
        file_.read(static_cast<char*>(target), static_cast<std::streamsize>(bytes));
        if (!file_.good()) return false;
        checksum_ = detail::add_to_checksum(checksum_, {static_cast<const std::byte*>(target), bytes});
        return true;
    }

    [[noreturn]] void complain(const char* what) const {
        throw ReportError("'" + path_ + "' is damaged: " + what + ". Record it again");
    }

    // False at the end.
    bool read_part(LoadedImage& loaded) {
        RecordingPartHeader part{};
        if (!read_bytes(&part, sizeof part)) complain("its end is missing");
        switch (part.kind) {
            case RecordingPart::image:
                read_image_part(part, loaded);
                return true;
            case RecordingPart::mappings:
                read_mappings(part, loaded);
                return true;
            case RecordingPart::blocks:
                read_table(part, loaded.blocks);
                return true;
            case RecordingPart::tags:
                read_table(part, loaded.tags);
                return true;
            case RecordingPart::end:
                read_end(part);
                return false;
        }
        complain("it has a part of an unknown kind");
    }

    void read_image_part(const RecordingPartHeader& part, LoadedImage& loaded) {
        const auto target = loaded.copy.bytes();
        if (part.offset > target.size() || part.bytes > target.size() - part.offset)
            complain("a part lies outside of the records");
        if (!read_bytes(target.data() + part.offset, part.bytes)) complain("its end is missing");
        loaded.used_bytes += part.bytes;
    }

    void read_table(const RecordingPartHeader& part, std::vector<std::byte>& table) {
        if (part.bytes > kMostTableBytes || !table.empty()) complain("a table in it is too long");
        table.resize(part.bytes);
        if (!read_bytes(table.data(), part.bytes)) complain("its end is missing");
    }

    void read_mappings(const RecordingPartHeader& part, LoadedImage& loaded) {
        const std::size_t before = loaded.mappings.size();
        if (part.bytes > kMostMappingBytes - before) complain("its list of modules is too long");
        // Only what is there is taken, whatever length is claimed.
        constexpr std::size_t kPiece = std::size_t{64} << 10;
        for (std::size_t left = part.bytes; left != 0;) {
            const std::size_t bytes = left < kPiece ? left : kPiece;
            const std::size_t at = loaded.mappings.size();
            loaded.mappings.resize(at + bytes);
            if (!read_bytes(loaded.mappings.data() + at, bytes)) complain("its end is missing");
            left -= bytes;
        }
    }

    void read_end(const RecordingPartHeader& part) {
        const std::uint64_t expected = checksum_;
        std::uint64_t written = 0;
        if (part.bytes != sizeof written) complain("its end has another length");
        if (!read_bytes(&written, sizeof written)) complain("its end is missing");
        if (written != expected) complain("its checksum is another");
    }

    const std::string& path_;
    std::ifstream file_;
    // Of all that was read.
    std::uint64_t checksum_ = 0;
};

}  // namespace

void check_image_header(const detail::ImageHeader& header, const char* source) {
    const std::string name(source);
    if (header.magic != detail::kObserveMagic) throw ReportError(name + " holds no records of memory");
    if (header.version == detail::kObserveVersion && header.image_bytes == sizeof(detail::ObserveImage))
        return;
    throw ReportError("the records in " + name + " are of another version of Ouroboros (" +
                      std::to_string(header.version) + ", " + std::to_string(header.image_bytes) +
                      " bytes; this one: " + std::to_string(detail::kObserveVersion) + ", " +
                      std::to_string(sizeof(detail::ObserveImage)) +
                      "). Use the ouro that was built with the program");
}

LoadedImage load_recording(const std::string& path) {
    return RecordingReader(path).read();
}

}  // namespace ouro
