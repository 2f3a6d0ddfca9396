#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/asset_stack.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace ouro {
namespace {

constexpr std::string_view kRecordsSuffix = ": names";

// What the second stream is called.
std::string_view name_records(std::array<char, kBlockNameBytes>& text, std::string_view name) noexcept {
    const std::size_t kept = std::min(name.size(), text.size() - 1 - kRecordsSuffix.size());
    std::copy_n(name.data(), kept, text.data());
    std::copy(kRecordsSuffix.begin(), kRecordsSuffix.end(), text.data() + kept);
    return {text.data(), kept + kRecordsSuffix.size()};
}

bool is_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= AssetStack::kMaxNameBytes;
}

void copy_name(std::array<char, detail::kAssetNameBytes>& target, std::string_view name) noexcept {
    target.fill('\0');
    std::copy(name.begin(), name.end(), target.begin());
}

Tag asset_tag(const AssetStack::Options& options) noexcept {
    return tag_or(options.tag, "asset stacks");
}

// Where huge pages are wanted, the stream begins and grows by whole ones.
StreamOptions stream_options(const AssetStack::Options& options) noexcept {
    const std::size_t huge = options.pages == os::PageKind::normal ? 0 : os::huge_page_size();
    return {.name = options.name,
            .tag = asset_tag(options),
            .reserve_bytes = options.max_bytes,
            .commit_step_bytes = std::max(options.commit_step_bytes, huge),
            .alignment = huge};
}

}  // namespace

Expected<AssetStack> AssetStack::create(MemoryTable& table, const Options& options) noexcept {
    const auto record_bytes = checked_multiply(options.max_assets, sizeof(detail::AssetRecord));
    if (!record_bytes) return record_bytes.status();
    if (*record_bytes == 0) return Status::bad_argument;
    auto stream = table.open_stream(stream_options(options));
    if (!stream) return stream.status();
    std::array<char, kBlockNameBytes> text;
    auto records = table.open_stream({.name = name_records(text, options.name),
                                      .tag = asset_tag(options),
                                      .reserve_bytes = *record_bytes});
    if (!records) return records.status();
    stream->tell_sanitizers();
    return AssetStack(*std::move(stream), detail::AssetRecords(*std::move(records)), options.pages);
}

Expected<AssetScope> AssetStack::open_scope(std::string_view name) noexcept {
    if (is_loading_) return Status::busy;
    if (!is_name(name)) return Status::bad_argument;
    if (depth_ == kMaxDepth) return Status::capacity_exhausted;
    Scope& scope = scopes_[depth_];
    scope.generation = scope.generation == AssetScope::kMaxGeneration ? 1 : scope.generation + 1;
    scope.first_asset = records_.count();
    scope.start_bytes = stream_.cursor_bytes();
    scope.mapped_from = kNowhere;
    copy_name(scope.name, name);
    ++depth_;
    return AssetScope(depth_ - 1, scope.generation);
}

std::size_t AssetStack::depth_of(AssetScope scope) const noexcept {
    if (scope.is_null() || scope.index() >= depth_) return 0;
    const auto index = static_cast<std::size_t>(scope.index());
    return scopes_[index].generation == scope.generation() ? index + 1 : 0;
}

Expected<void> AssetStack::release(AssetScope scope) noexcept {
    if (is_loading_) return Status::busy;
    const std::size_t depth = depth_of(scope);
    if (depth == 0) return Status::stale_handle;
    for (std::size_t index = depth - 1; index < depth_; ++index)
        file_pages_from_ = std::min(file_pages_from_, scopes_[index].mapped_from);
    const Scope& outermost = scopes_[depth - 1];
    records_.cut_to(outermost.first_asset);
    stream_.cut_to(outermost.start_bytes);
    depth_ = depth - 1;
    // What the system refuses to take now is asked for again before the next use.
    static_cast<void>(drop_file_pages());
    stream_.publish();
    return {};
}

Expected<std::string_view> AssetStack::scope_name(AssetScope scope) const noexcept {
    const std::size_t depth = depth_of(scope);
    if (depth == 0) return Status::stale_handle;
    return std::string_view(scopes_[depth - 1].name.data());
}

Status AssetStack::check_ready(std::string_view name) const noexcept {
    if (is_loading_) return Status::busy;
    if (depth_ == 0) return Status::not_found;
    return is_name(name) ? Status::ok : Status::bad_argument;
}

// Pages of released files must be plain memory again before anybody gets them.
Status AssetStack::drop_file_pages() noexcept {
    if (file_pages_from_ == kNowhere) return Status::ok;
    const auto dropped = stream_.drop_behind(file_pages_from_);
    if (!dropped) return dropped.status();
    file_pages_from_ = kNowhere;
    advised_bytes_ = std::min(advised_bytes_, stream_.committed_bytes());
    return Status::ok;
}

void AssetStack::advise_new_pages() noexcept {
    const std::size_t huge = os::huge_page_size();
    if (pages_ == os::PageKind::normal) return;
    if (huge == 0) {
        page_reason_ = Status::not_supported;
        return;
    }
    const std::size_t whole = align_down(stream_.committed_bytes(), huge);
    if (whole <= advised_bytes_) return;
    const auto advised = os::advise_huge(stream_.range().sub(advised_bytes_, whole - advised_bytes_), true);
    if (!advised) page_reason_ = advised.status();
    advised_bytes_ = whole;
}

Expected<MemoryBlock> AssetStack::take(std::size_t bytes, std::size_t alignment) noexcept {
    if (const Status plain = drop_file_pages(); plain != Status::ok) return plain;
    if (const auto room = records_.reserve_one(); !room) return room.status();
    const auto block = stream_.take(bytes, alignment);
    // Before anything is written there.
    if (block) advise_new_pages();
    return block;
}

AssetHandle AssetStack::add(std::string_view name, MemoryBlock block, std::size_t bytes) noexcept {
    detail::AssetRecord record{};
    record.depth = static_cast<std::uint32_t>(depth_);
    record.offset = static_cast<std::size_t>(block.data - stream_.range().data);
    record.bytes = bytes;
    copy_name(record.name, name);
    const std::uint32_t index = records_.push(record);
    return AssetHandle(index, records_.at(index).generation);
}

Expected<AssetHandle> AssetStack::allocate(std::string_view name, std::size_t bytes,
                                           std::size_t alignment) noexcept {
    if (const Status ready = check_ready(name); ready != Status::ok) return ready;
    const auto block = take(bytes, alignment);
    if (!block) return block.status();
    return add(name, *block, bytes);
}

Expected<std::span<const std::byte>> AssetStack::bytes(AssetHandle asset) const noexcept {
    const detail::AssetRecord* const record = records_.find(asset.index(), asset.generation());
    if (record == nullptr) return Status::stale_handle;
    return std::span<const std::byte>(block_of(*record).bytes());
}

Expected<std::span<std::byte>> AssetStack::writable_bytes(AssetHandle asset) noexcept {
    const detail::AssetRecord* const record = records_.find(asset.index(), asset.generation());
    if (record == nullptr) return Status::stale_handle;
    return block_of(*record).bytes();
}

AssetStack::AssetInfo AssetStack::info_of(std::uint32_t index) const noexcept {
    const detail::AssetRecord& record = records_.at(index);
    return {.handle = AssetHandle(index, record.generation),
            .name = record.name.data(),
            .bytes = block_of(record).bytes(),
            .depth = record.depth};
}

Expected<AssetStack::AssetInfo> AssetStack::info(AssetHandle asset) const noexcept {
    if (records_.find(asset.index(), asset.generation()) == nullptr) return Status::stale_handle;
    return info_of(static_cast<std::uint32_t>(asset.index()));
}

Expected<AssetHandle> AssetStack::find(std::string_view name) const noexcept {
    for (std::uint32_t index = records_.count(); index-- != 0;) {
        const detail::AssetRecord& record = records_.at(index);
        if (name == record.name.data()) return AssetHandle(index, record.generation);
    }
    return Status::not_found;
}

void AssetStack::trim() noexcept {
    stream_.shrink(stream_.cursor_bytes());
    advised_bytes_ = std::min(advised_bytes_, stream_.committed_bytes());
}

AssetStack::Stats AssetStack::stats() const noexcept {
    return {.used_bytes = stream_.cursor_bytes(),
            .high_water_bytes = stream_.high_water_bytes(),
            .committed_bytes = stream_.committed_bytes(),
            .reserved_bytes = stream_.reserved_bytes(),
            .assets = records_.count(),
            .depth = depth_,
            .loads = loads_,
            .failed_loads = failed_loads_};
}

os::HugePageReport AssetStack::page_report() const noexcept {
    os::HugePageReport report{.asked = pages_, .page_bytes = os::page_size(), .reason = page_reason_};
    if (pages_ == os::PageKind::normal || stream_.committed_bytes() == 0) return report;
    const auto huge = os::huge_bytes_in(stream_.range().sub(0, stream_.committed_bytes()));
    report.huge_bytes = huge.value_or(std::size_t{0});
    if (report.huge_bytes != 0) {
        report.given = os::PageKind::transparent;
        report.page_bytes = os::huge_page_size();
    }
    if (report.reason != Status::ok) return report;
    if (pages_ == os::PageKind::reserved) {
        report.reason = Status::not_supported;
    } else if (report.huge_bytes < align_down(stream_.cursor_bytes(), os::page_size())) {
        report.reason = huge ? Status::no_huge_pages : huge.status();
    }
    return report;
}

StreamRefusal AssetStack::last_refusal() const noexcept {
    const StreamRefusal& assets = stream_.last_refusal();
    const StreamRefusal& names = records_.last_refusal();
    return assets.number > names.number ? assets : names;
}

Status AssetStack::check() const noexcept {
    std::size_t end = 0;
    std::size_t depth = 0;
    for (std::uint32_t index = 0; index < records_.count(); ++index) {
        const detail::AssetRecord& record = records_.at(index);
        while (depth < depth_ && scopes_[depth].first_asset <= index) {
            if (scopes_[depth].start_bytes < end) return Status::corrupt_data;
            ++depth;
        }
        const bool is_placed = record.offset >= end && record.offset <= stream_.cursor_bytes() &&
                               record.bytes != 0 && record.depth == depth &&
                               record.bytes <= stream_.cursor_bytes() - record.offset;
        if (record.generation == 0 || !is_placed) return Status::corrupt_data;
        end = record.offset + record.bytes;
    }
    for (std::size_t index = 0; index < depth_; ++index) {
        const Scope& scope = scopes_[index];
        const bool is_sound = scope.generation != 0 && scope.first_asset <= records_.count() &&
                              scope.start_bytes <= stream_.cursor_bytes();
        if (!is_sound) return Status::corrupt_data;
    }
    return end <= stream_.cursor_bytes() ? Status::ok : Status::corrupt_data;
}

}  // namespace ouro
