#include "world_images.hpp"

#include "block_table_reader.hpp"
#include "image_reader.hpp"
#include "process_errors.hpp"

#include <ouro/os/other_process.hpp>
#include <ouro/streams/live_image.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace ouro {
namespace {

class SavedWorldImage final : public WorldImage {
public:
    SavedWorldImage(SavedImage image, std::string path) : image_(std::move(image)), path_(std::move(path)) {}

    [[nodiscard]] ImageBytes bytes() const override { return image_.bytes(); }
    [[nodiscard]] std::string source() const override { return "'" + path_ + "'"; }

private:
    SavedImage image_;
    std::string path_;
};

class ProcessWorldImage final : public WorldImage {
public:
    ProcessWorldImage(std::uint32_t process_id, std::uint64_t address, std::uint64_t bytes)
        : process_id_(process_id), address_(address), bytes_(bytes) {}

    [[nodiscard]] ImageBytes bytes() const override {
        return {[](const void* context, std::uint64_t offset, std::span<std::byte> out) noexcept {
                    return static_cast<const ProcessWorldImage*>(context)->read(offset, out);
                },
                this};
    }
    [[nodiscard]] std::string source() const override { return process_text(process_id_); }

private:
    using Page = std::array<std::byte, kStatePageBytes>;

    Status read(std::uint64_t offset, std::span<std::byte> out) const noexcept {
        if (offset > bytes_ || out.size() > bytes_ - offset) return Status::out_of_range;
        while (!out.empty()) {
            const std::uint64_t number = offset / kStatePageBytes;
            const auto within = static_cast<std::size_t>(offset % kStatePageBytes);
            const auto found = pages_.find(number);
            const Page* page = found != pages_.end() ? found->second.get() : nullptr;
            if (page == nullptr) {
                auto fresh = std::make_unique<Page>();
                const auto copied =
                    os::read_process_memory(process_id_, address_ + number * kStatePageBytes, *fresh);
                if (!copied) return copied.status();
                page = pages_.emplace(number, std::move(fresh)).first->second.get();
            }
            const std::size_t piece = std::min(out.size(), kStatePageBytes - within);
            std::memcpy(out.data(), page->data() + within, piece);
            out = out.subspan(piece);
            offset += piece;
        }
        return Status::ok;
    }

    std::uint32_t process_id_;
    std::uint64_t address_;
    std::uint64_t bytes_;
    mutable std::map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace

std::unique_ptr<WorldImage> open_saved_image(const std::string& path) {
    auto image = SavedImage::open(path.c_str());
    if (image) return std::make_unique<SavedWorldImage>(*std::move(image), path);
    switch (image.status()) {
        case Status::not_found:
            throw ReportError("there is no file '" + path +
                              "'. Programs make one with ouro::save_world(world, path); one that runs is "
                              "given by its number");
        case Status::bad_argument:
            throw ReportError("'" + path + "' is a folder, or something else that is no file");
        case Status::wrong_format:
            throw ReportError("'" + path +
                              "' is no saved image of this version. Programs make one with "
                              "ouro::save_world(world, path) or ouro::save_image(view, path)");
        case Status::corrupt_data:
            throw ReportError("'" + path + "' is damaged or cut off");
        default:
            throw ReportError("'" + path + "' cannot be read: " + std::string(status_text(image.status())));
    }
}

std::unique_ptr<WorldImage> open_process_image(std::uint32_t process_id) {
    for (const BlockTableCopy& table : read_block_tables(process_id)) {
        for (const BlockEntry& entry : table.entries) {
            std::array<char, 8> magic{};
            if (entry.base == 0 || entry.reserved_bytes < kStatePageBytes) continue;
            const auto read =
                os::read_process_memory(process_id, entry.base, std::as_writable_bytes(std::span(magic)));
            if (!read || magic != ImageHeader::kMagic) continue;
            return std::make_unique<ProcessWorldImage>(process_id, entry.base, entry.reserved_bytes);
        }
    }
    throw ReportError(process_text(process_id) + " has no image of a StateRing");
}

}  // namespace ouro
