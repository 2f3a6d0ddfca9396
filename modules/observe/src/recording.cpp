#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/detail/tag_table.hpp>
#include <ouro/observe/detail/observe_image.hpp>
#include <ouro/observe/detail/recording_format.hpp>
#include <ouro/observe/recording.hpp>
#include <ouro/os/clock.hpp>
#include <ouro/os/file_output.hpp>
#include <ouro/os/other_process.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace ouro {
namespace {

using detail::ObserveImage;
using detail::RecordingPart;
using detail::RecordingPartHeader;

// The first failure is kept, and nothing is written after it.
class RecordingWriter {
public:
    explicit RecordingWriter(os::FileOutput& file) noexcept : file_(&file) {}

    [[nodiscard]] Status status() const noexcept { return status_; }

    void write(std::span<const std::byte> bytes) noexcept {
        checksum_ = detail::add_to_checksum(checksum_, bytes);
        if (status_ == Status::ok) status_ = file_->write(bytes).status();
    }
    template <class Record>
    void write_record(const Record& record) noexcept {
        write(std::as_bytes(std::span(&record, 1)));
    }

    // Others may be changing the image: it is copied word by word, each as it was at one moment. Pages that
    // were only read hold nothing and are left out.
    void write_image_part(ObserveImage& image, std::size_t offset, std::size_t bytes) noexcept {
        std::array<std::uint64_t, 512> words;
        auto* next = reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::byte*>(&image) + offset);
        for (std::size_t left = bytes / sizeof(std::uint64_t); left != 0;) {
            const auto piece = std::span(words).first(std::min(left, words.size()));
            std::uint64_t bits = 0;
            for (std::uint64_t& word : piece) {
                word = std::atomic_ref(*next++).load(std::memory_order_relaxed);
                bits |= word;
            }
            if (bits != 0) {
                write_record(RecordingPartHeader{RecordingPart::image, 0, offset, piece.size_bytes()});
                write(std::as_bytes(piece));
            }
            offset += piece.size_bytes();
            left -= piece.size();
        }
    }

    // Copied word by word too; there may be more in it than what its header said a moment ago.
    void write_blocks() noexcept {
        static_assert(offsetof(BlockTable, entries) % sizeof(std::uint64_t) == 0 &&
                      sizeof(BlockEntry) % sizeof(std::uint64_t) == 0);
        const std::size_t bytes = offsetof(BlockTable, entries) + listed_block_limit() * sizeof(BlockEntry);
        write_record(RecordingPartHeader{RecordingPart::blocks, 0, 0, bytes});
        std::array<std::uint64_t, 512> words;
        auto* next = reinterpret_cast<std::uint64_t*>(&ouro_block_table);
        for (std::size_t left = bytes / sizeof(std::uint64_t); left != 0;) {
            const auto piece = std::span(words).first(std::min(left, words.size()));
            for (std::uint64_t& word : piece)
                word = std::atomic_ref(*next++).load(std::memory_order_relaxed);
            write(std::as_bytes(piece));
            left -= piece.size();
        }
    }
    void write_tags() noexcept {
        const auto bytes = detail::tag_table_bytes();
        write_record(RecordingPartHeader{RecordingPart::tags, 0, 0, bytes.size()});
        write(bytes);
    }

    void add_mapping(std::string_view line) noexcept {
        if (line.size() + 1 > text_.size()) return;
        if (line.size() + 1 > text_.size() - text_bytes_) flush_mappings();
        std::memcpy(text_.data() + text_bytes_, line.data(), line.size());
        text_bytes_ += line.size();
        text_[text_bytes_++] = '\n';
    }
    void flush_mappings() noexcept {
        if (text_bytes_ == 0) return;
        write_record(RecordingPartHeader{RecordingPart::mappings, 0, 0, text_bytes_});
        write(std::as_bytes(std::span(text_).first(text_bytes_)));
        text_bytes_ = 0;
    }

    void write_end() noexcept {
        write_record(RecordingPartHeader{RecordingPart::end, 0, 0, sizeof checksum_});
        write_record(std::uint64_t{checksum_});
    }

private:
    os::FileOutput* file_;
    Status status_ = Status::ok;
    // Of all that was written.
    std::uint64_t checksum_ = 0;
    // Of the mappings; a line of the system is shorter than this.
    std::array<char, 8192> text_;
    std::size_t text_bytes_ = 0;
};

static_assert(sizeof(ObserveImage) % sizeof(std::uint64_t) == 0);

void write_image(RecordingWriter& writer, ObserveImage& image) noexcept {
    struct Context {
        RecordingWriter* writer;
        ObserveImage* image;
    } context{&writer, &image};
    const auto write_run = [](os::PageRun run, void* argument) {
        const Context& to = *static_cast<Context*>(argument);
        const std::size_t bytes = std::min(run.bytes, sizeof(ObserveImage) - run.offset);
        to.writer->write_image_part(*to.image, run.offset, bytes);
        return to.writer->status() == Status::ok;
    };
    // Whole pages: the image's mapping has them.
    const std::size_t page = os::page_size();
    const std::size_t bytes = (sizeof(ObserveImage) + page - 1) / page * page;
    const auto visited = os::visit_used_pages(os::process_id(), reinterpret_cast<std::uintptr_t>(&image),
                                              bytes, write_run, &context);
    // Without the system's files, all of it.
    if (!visited) writer.write_image_part(image, 0, sizeof(ObserveImage));
}

void write_mappings(RecordingWriter& writer) noexcept {
    const auto add = [](std::string_view line, void* argument) {
        static_cast<RecordingWriter*>(argument)->add_mapping(line);
        return true;
    };
    // Names of sites are a convenience: without the list they stay addresses.
    static_cast<void>(os::visit_mapping_lines(os::process_id(), add, &writer));
    writer.flush_mappings();
}

}  // namespace

Expected<void> save_recording(const char* path) noexcept {
    ObserveImage* const image = detail::observe_image();
    if (image == nullptr) return Status::out_of_memory;
    auto file = os::FileOutput::create(path);
    if (!file) return file.status();
    RecordingWriter writer(*file);
    writer.write_record(detail::RecordingHeader{.magic = detail::kRecordingMagic,
                                                .version = detail::kRecordingVersion,
                                                .process_id = os::process_id(),
                                                .saved_ns = os::monotonic_ns()});
    write_image(writer, *image);
    write_mappings(writer);
    writer.write_blocks();
    writer.write_tags();
    writer.write_end();
    if (writer.status() != Status::ok) return writer.status();
    return file->finish();
}

Expected<void> allow_reports() noexcept {
    return os::let_same_user_read();
}

}  // namespace ouro
