#include <ouro/os/file_input.hpp>
#include <ouro/os/virtual_memory.hpp>
#include <ouro/streams/asset_stack.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace ouro {
namespace {

// Without the folders.
std::string_view file_name(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
    return path;
}

// How long the file is, where that is what it should be.
Expected<std::size_t> length_of(const os::FileInput& file, const LoadOptions& options) noexcept {
    const auto length = file.size();
    if (!length) return length.status();
    if (options.expected_bytes != 0 && *length != options.expected_bytes) return Status::corrupt_data;
    if (*length == 0) return Status::zero_size;
    if (*length > std::numeric_limits<std::size_t>::max() - os::page_size()) return Status::size_overflow;
    return static_cast<std::size_t>(*length);
}

// Whether somebody else works on the file.
Status check_unchanged(const os::FileInput& file, std::uint64_t bytes) noexcept {
    const auto now = file.size();
    if (!now) return now.status();
    return *now == bytes ? Status::ok : Status::busy;
}

}  // namespace

Status AssetStack::go_on(const LoadProgress& progress, const LoadOptions& options) noexcept {
    if (options.progress == nullptr) return Status::ok;
    is_loading_ = true;
    const bool wanted = options.progress(progress, options.context);
    is_loading_ = false;
    return wanted ? Status::ok : Status::cancelled;
}

Status AssetStack::read_into(const os::FileInput& file, MemoryBlock block, std::string_view name,
                             const LoadOptions& options) noexcept {
    const std::size_t step = std::max(options.step_bytes, std::size_t{1});
    for (std::size_t done = 0; done < block.size;) {
        const Status wanted = go_on({name, done, block.size}, options);
        if (wanted != Status::ok) return wanted;
        const MemoryBlock part = block.sub(done, std::min(step, block.size - done));
        const auto count = file.read_at(done, part.bytes());
        if (!count) return count.status();
        // Shorter than it was a moment ago.
        if (*count != part.size) return Status::busy;
        done += part.size;
    }
    const Status finished = go_on({name, block.size, block.size}, options);
    return finished == Status::ok ? check_unchanged(file, block.size) : finished;
}

Status AssetStack::map_onto(const os::FileInput& file, MemoryBlock block, std::uint64_t bytes,
                            std::string_view name, const LoadOptions& options) noexcept {
    Status status = go_on({name, 0, bytes}, options);
    if (status != Status::ok) return status;
    status = file.map_over(block).status();
    // The file was longer when its pages were counted.
    if (status == Status::out_of_range) return Status::busy;
    if (status != Status::ok) return status;
    const auto offset = static_cast<std::size_t>(block.data - stream_.range().data);
    file_pages_from_ = std::min(file_pages_from_, offset);
    status = go_on({name, bytes, bytes}, options);
    return status == Status::ok ? check_unchanged(file, bytes) : status;
}

Expected<AssetHandle> AssetStack::load_from(const os::FileInput& file, std::string_view name,
                                            const LoadOptions& options) noexcept {
    const auto bytes = length_of(file, options);
    if (!bytes) return bytes.status();
    const bool is_mapped = options.way == LoadWay::map;
    if (is_mapped && !is_alignment(options.alignment)) return Status::bad_alignment;
    const std::size_t before = stream_.cursor_bytes();
    const auto block =
        is_mapped ? take(align_up(*bytes, os::page_size()), std::max(options.alignment, os::page_size()))
                  : take(*bytes, options.alignment);
    if (!block) return block.status();
    const Status loaded =
        is_mapped ? map_onto(file, *block, *bytes, name, options) : read_into(file, *block, name, options);
    if (loaded != Status::ok) {
        stream_.cut_to(before);
        static_cast<void>(drop_file_pages());
        return loaded;
    }
    if (is_mapped) {
        Scope& scope = scopes_[depth_ - 1];
        scope.mapped_from = std::min(scope.mapped_from, std::exchange(file_pages_from_, kNowhere));
    }
    return add(name, *block, *bytes);
}

Expected<AssetHandle> AssetStack::load(const char* path, const LoadOptions& options) noexcept {
    if (path == nullptr) return Status::bad_argument;
    const std::string_view name = options.name.empty() ? file_name(path) : options.name;
    if (const Status ready = check_ready(name); ready != Status::ok) return ready;
    const auto file = os::FileInput::open(path);
    const auto asset = file ? load_from(*file, name, options) : Expected<AssetHandle>(file.status());
    ++(asset ? loads_ : failed_loads_);
    return asset;
}

}  // namespace ouro
