#pragma once

#include <ouro/base/align.hpp>
#include <ouro/base/expected.hpp>
#include <ouro/base/handle.hpp>
#include <ouro/memory/memory_config.hpp>
#include <ouro/os/huge_pages.hpp>
#include <ouro/streams/asset_load.hpp>
#include <ouro/streams/detail/asset_records.hpp>
#include <ouro/streams/memory_table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace ouro::os {
class FileInput;
}

namespace ouro {

using AssetHandle = Handle<struct Asset>;
using AssetScope = Handle<struct AssetScopeRecord>;

// What is loaded and then stays: textures, meshes, tables. Assets are written one behind the other, straight
// to where they remain, and belong to named scopes that nest: engine > level > sub-level. A scope is released
// as a whole, with those inside it, by moving the cursor back.
//
//     auto assets = AssetStack::create(table, {.name = "assets"});
//     auto level = assets->open_scope("level 3");
//     auto mesh = assets->load("tree.mesh", {});
//     auto vertices = assets->view<Vertex>(*mesh);
//     assets->release(*level);                        // vertices are gone,
//     assets->view<Vertex>(*mesh);                    // and this says so: stale_handle
//
// One thread at a time uses the stack; what it gave may be read by any. A call that fails leaves assets and
// scopes as they were.
class AssetStack final {
public:
    static constexpr std::size_t kMaxDepth = 32;
    static constexpr std::size_t kMaxNameBytes = detail::kAssetNameBytes - 1;

    struct Options {
        std::string_view name = "assets";
        // Untagged stands for "asset stacks".
        Tag tag = {};
        std::size_t max_bytes = std::size_t{1} << 30;
        std::size_t max_assets = 65'536;
        std::size_t commit_step_bytes = std::size_t{1} << 20;
        // What the memory should be on. Anything but normal asks the system for transparent huge pages, which
        // it may give or not: page_report() tells. Reserved ones cannot lie in a stream. Mapped files are on
        // pages of their own.
        os::PageKind pages = kHugePagesByDefault ? os::PageKind::transparent : os::PageKind::normal;
    };

    struct AssetInfo {
        AssetHandle handle;
        std::string_view name;
        std::span<const std::byte> bytes;
        // How deep its scope lies, from 1.
        std::size_t depth = 0;
    };

    struct Stats {
        std::size_t used_bytes = 0;
        std::size_t high_water_bytes = 0;
        std::size_t committed_bytes = 0;
        std::size_t reserved_bytes = 0;
        std::size_t assets = 0;
        std::size_t depth = 0;
        std::uint64_t loads = 0;
        std::uint64_t failed_loads = 0;
    };

    // On two streams of the table, which must live longer: the assets, and a small one with their names and
    // places. Fails as MemoryTable::open_stream does, and with bad_argument (no room for any asset).
    [[nodiscard]] static Expected<AssetStack> create(MemoryTable& table, const Options& options) noexcept;

    // A scope inside the innermost one; assets go there from now on. The name is copied. Fails with
    // bad_argument (no name, or one longer than kMaxNameBytes), capacity_exhausted (kMaxDepth) or busy.
    [[nodiscard]] Expected<AssetScope> open_scope(std::string_view name) noexcept;
    // Releases the scope, all scopes inside it and their assets; the memory stays for what comes next. Fails
    // with stale_handle or busy.
    Expected<void> release(AssetScope scope) noexcept;
    // stale_handle when it was released. The name is valid as long as the scope.
    [[nodiscard]] Expected<std::string_view> scope_name(AssetScope scope) const noexcept;

    // Room for an asset that the program makes by itself, in the innermost scope; its bytes are unspecified.
    // Fails with not_found (no scope is open), bad_argument (the name), zero_size, bad_alignment,
    // size_overflow, capacity_exhausted, sealed, out_of_memory or busy.
    [[nodiscard]] Expected<AssetHandle> allocate(std::string_view name, std::size_t bytes,
                                                 std::size_t alignment = 64) noexcept;

    // Reads or maps a whole file into the innermost scope. Fails as allocate and os::FileInput do (zero_size
    // for an empty file), with corrupt_data (not of the expected length), busy (its length changed while it
    // was loaded), io_error or cancelled; not_supported in wasm32.
    [[nodiscard]] Expected<AssetHandle> load(const char* path, const LoadOptions& options = {}) noexcept;

    // Fail with stale_handle once the asset's scope was released.
    [[nodiscard]] Expected<std::span<const std::byte>> bytes(AssetHandle asset) const noexcept;
    [[nodiscard]] Expected<std::span<std::byte>> writable_bytes(AssetHandle asset) noexcept;
    [[nodiscard]] Expected<AssetInfo> info(AssetHandle asset) const noexcept;

    // The asset as objects of a type. Fails with stale_handle, out_of_range (not a whole number of them) or
    // bad_alignment too. Whether the bytes mean that type is for the caller to know.
    template <class T>
    [[nodiscard]] Expected<std::span<const T>> view(AssetHandle asset) const noexcept {
        static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                      "assets are bytes: use a trivially copyable type, with offsets instead of pointers");
        const auto found = bytes(asset);
        if (!found) return found.status();
        if (found->size() % sizeof(T) != 0) return Status::out_of_range;
        if (!is_aligned(found->data(), alignof(T))) return Status::bad_alignment;
        return std::span<const T>(reinterpret_cast<const T*>(found->data()), found->size() / sizeof(T));
    }

    // The newest asset of that name, so that a level may hide one of the engine's; not_found. Looks at all of
    // them: keep the handle.
    [[nodiscard]] Expected<AssetHandle> find(std::string_view name) const noexcept;

    // Calls visit(const AssetInfo&) for each asset, oldest first.
    template <class Visit>
    void visit_assets(Visit&& visit) const {
        for (std::uint32_t index = 0; index < records_.count(); ++index)
            visit(info_of(index));
    }

    // Gives back memory behind what is in use. Nothing under a seal.
    void trim() noexcept;

    [[nodiscard]] Stats stats() const noexcept;
    // What was asked for, how many bytes are on huge pages at this moment, and why not more. Asks the system:
    // not for hot paths.
    [[nodiscard]] os::HugePageReport page_report() const noexcept;
    // The last refusal of either stream; its status is ok when there was none.
    [[nodiscard]] StreamRefusal last_refusal() const noexcept;
    // ok, or corrupt_data.
    [[nodiscard]] Status check() const noexcept;

private:
    // An offset where nothing is.
    static constexpr std::size_t kNowhere = ~std::size_t{0};

    struct Scope {
        std::uint32_t generation = 0;
        std::uint32_t first_asset = 0;
        std::size_t start_bytes = 0;
        // Where the first page lies that is a file's.
        std::size_t mapped_from = kNowhere;
        std::array<char, detail::kAssetNameBytes> name{};
    };

    AssetStack(Stream stream, detail::AssetRecords records, os::PageKind pages) noexcept
        : stream_(std::move(stream)), records_(std::move(records)), pages_(pages) {}

    [[nodiscard]] Status check_ready(std::string_view name) const noexcept;
    [[nodiscard]] Expected<MemoryBlock> take(std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] Status drop_file_pages() noexcept;
    void advise_new_pages() noexcept;
    [[nodiscard]] AssetHandle add(std::string_view name, MemoryBlock block, std::size_t bytes) noexcept;
    [[nodiscard]] Expected<AssetHandle> load_from(const os::FileInput& file, std::string_view name,
                                                  const LoadOptions& options) noexcept;
    [[nodiscard]] Status read_into(const os::FileInput& file, MemoryBlock block, std::string_view name,
                                   const LoadOptions& options) noexcept;
    [[nodiscard]] Status map_onto(const os::FileInput& file, MemoryBlock block, std::uint64_t bytes,
                                  std::string_view name, const LoadOptions& options) noexcept;
    [[nodiscard]] Status go_on(const LoadProgress& progress, const LoadOptions& options) noexcept;
    [[nodiscard]] AssetInfo info_of(std::uint32_t index) const noexcept;
    [[nodiscard]] MemoryBlock block_of(const detail::AssetRecord& record) const noexcept {
        return stream_.range().sub(record.offset, record.bytes);
    }
    // The scope's depth, from 1; 0 when it is gone.
    [[nodiscard]] std::size_t depth_of(AssetScope scope) const noexcept;

    Stream stream_;
    detail::AssetRecords records_;
    os::PageKind pages_ = os::PageKind::normal;
    Status page_reason_ = Status::ok;
    // How far the system was asked for huge pages.
    std::size_t advised_bytes_ = 0;
    // Behind the cursor: pages of files that the system would not take away yet.
    std::size_t file_pages_from_ = kNowhere;
    std::uint64_t loads_ = 0;
    std::uint64_t failed_loads_ = 0;
    std::size_t depth_ = 0;
    bool is_loading_ = false;
    std::array<Scope, kMaxDepth> scopes_{};
};

// Opens a scope, and releases it at the end of its own.
class AssetScopeGuard {
public:
    // Without a scope when the stack refuses one: see status().
    AssetScopeGuard(AssetStack& stack, std::string_view name) noexcept : stack_(stack) {
        const auto opened = stack.open_scope(name);
        status_ = opened.status();
        if (opened) scope_ = *opened;
    }
    ~AssetScopeGuard() {
        if (!scope_.is_null()) static_cast<void>(stack_.release(scope_));
    }
    AssetScopeGuard(const AssetScopeGuard&) = delete;
    AssetScopeGuard& operator=(const AssetScopeGuard&) = delete;

    [[nodiscard]] Status status() const noexcept { return status_; }
    [[nodiscard]] AssetScope scope() const noexcept { return scope_; }

private:
    AssetStack& stack_;
    AssetScope scope_;
    Status status_ = Status::ok;
};

}  // namespace ouro
