#include <ouro/os/huge_pages.hpp>
#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/detail/history_memory.hpp>
#include <ouro/streams/live_image.hpp>
#include <ouro/streams/memory_table.hpp>
#include <ouro/streams/state_ring.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ouro::detail {
namespace {

// Beside the image, which has the ring's name.
class HistoryName {
public:
    explicit HistoryName(std::string_view ring) noexcept {
        const std::size_t kept = std::min(ring.size(), text_.size() - 1 - kSuffix.size());
        std::copy_n(ring.data(), kept, text_.data());
        std::ranges::copy(kSuffix, text_.data() + kept);
        size_ = kept + kSuffix.size();
    }
    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

private:
    static constexpr std::string_view kSuffix = ": history";

    std::array<char, kBlockNameBytes> text_{};
    std::size_t size_ = 0;
};

// Advice only: whatever comes of it, the memory is there.
void advise(const StateRingOptions& options, MemoryBlock block) noexcept {
    if (options.huge_pages) (void)os::advise_huge(block, true);
}

}  // namespace

Expected<HistoryMemory> HistoryMemory::create(const StateRingOptions& options, std::size_t bytes) noexcept {
    HistoryMemory memory;
    const Status status =
        options.table != nullptr ? memory.open_stream(options, bytes) : memory.reserve(options, bytes);
    if (status != Status::ok) return status;
    return memory;
}

HistoryMemory& HistoryMemory::operator=(HistoryMemory&& other) noexcept {
    if (this == &other) return *this;
    listing_ = std::move(other.listing_);
    plain_ = std::move(other.plain_);
    stream_ = std::move(other.stream_);
    return *this;
}

Status HistoryMemory::reserve(const StateRingOptions& options, std::size_t bytes) noexcept {
    auto plain = os::Reservation::create({.bytes = bytes, .alignment = os::huge_page_size()});
    if (!plain) return plain.status();
    plain_ = *std::move(plain);
    const MemoryBlock block = plain_.block();
    if (const auto done = plain_.commit(0, block.size); !done) return done.status();
    advise(options, block);
    if (options.prefaults) {
        if (const auto done = os::prefault(block); !done) return done.status();
    }
    listing_ = BlockRegistration({.name = HistoryName(options.name).view(),
                                  .tag = tag_or(options.tag, kStateTagName),
                                  .base = block.data,
                                  .reserved_bytes = block.size,
                                  .committed_bytes = block.size});
    return Status::ok;
}

// The stream says what it was refused, to the table too.
Status HistoryMemory::open_stream(const StateRingOptions& options, std::size_t bytes) noexcept {
    auto stream = options.table->open_stream({.name = HistoryName(options.name).view(),
                                              .tag = tag_or(options.tag, kStateTagName),
                                              .reserve_bytes = bytes,
                                              .alignment = os::huge_page_size()});
    if (!stream) return stream.status();
    stream_ = *std::move(stream);
    // To the end of the last page.
    const std::size_t whole = stream_.reserved_bytes();
    if (const auto grown = stream_.grow(whole); !grown) return grown.status();
    advise(options, stream_.range());
    if (!options.prefaults) return Status::ok;
    return stream_.prewarm(whole).status();
}

void HistoryMemory::note_use(std::size_t bytes) noexcept {
    if (stream_.is_open())
        stream_.note_use(bytes);
    else
        listing_.update_silently(plain_.block().size, bytes);
}

}  // namespace ouro::detail
