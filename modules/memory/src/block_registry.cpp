#include "fork_safety.hpp"

#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/memory/observer.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace ouro {

// Zero at first: a program that lists little has little of it in memory.
constinit BlockTable ouro_block_table{};

namespace {

constinit detail::WordLock changing;
BlockTable& table = ouro_block_table;

// The table is plain bytes for debuggers; here each field is read and written as an atomic one.
template <class T>
T read(T& field, std::memory_order order = std::memory_order_relaxed) noexcept {
    return std::atomic_ref(field).load(order);
}
template <class T>
void write(T& field, std::type_identity_t<T> value) noexcept {
    std::atomic_ref(field).store(value, std::memory_order_relaxed);
}

constexpr bool is_listed_generation(std::uint32_t generation) noexcept {
    return generation % 2 != 0;
}

// Requires: the lock.
void write_header() noexcept {
    if (table.capacity != 0) return;
    table.magic = {'o', 'u', 'r', 'o', 'b', 'l', 'k', '\0'};
    table.version = 1;
    table.entry_bytes = sizeof(BlockEntry);
    table.capacity = kMaxListedBlocks;
}

// Requires: the lock. Null when all entries are taken.
BlockEntry* find_free_entry() noexcept {
    for (BlockEntry& entry : table.entries) {
        if (!is_listed_generation(read(entry.generation))) return &entry;
    }
    return nullptr;
}

void fill(BlockEntry& entry, const BlockDescription& description) noexcept {
    write(entry.tag, description.tag.id());
    write(entry.kind, description.kind);
    write(entry.base, reinterpret_cast<std::uintptr_t>(description.base));
    write(entry.reserved_bytes, description.reserved_bytes);
    write(entry.committed_bytes, description.committed_bytes);
    write(entry.cursor_bytes, 0);
    write(entry.peak_bytes, 0);
    write(entry.use_is_told, 0);
    const std::size_t length = std::min(description.name.size(), kBlockNameBytes - 1);
    for (std::size_t i = 0; i < kBlockNameBytes; ++i)
        write(entry.name[i], i < length ? description.name[i] : '\0');
}

BlockInfo copy_of(BlockEntry& entry, std::size_t index, std::uint32_t generation) noexcept {
    BlockInfo info{.handle = BlockHandle(index, generation),
                   .tag = Tag::from_id(read(entry.tag)),
                   .kind = read(entry.kind),
                   .base = static_cast<std::uintptr_t>(read(entry.base)),
                   .reserved_bytes = static_cast<std::size_t>(read(entry.reserved_bytes)),
                   .committed_bytes = static_cast<std::size_t>(read(entry.committed_bytes)),
                   .cursor_bytes = static_cast<std::size_t>(read(entry.cursor_bytes)),
                   .peak_bytes = static_cast<std::size_t>(read(entry.peak_bytes))};
    BlockEntry use{};
    use.use_is_told = read(entry.use_is_told);
    use.committed_bytes = info.committed_bytes;
    info.tells_use = tells_use(use);
    for (std::size_t i = 0; i < kBlockNameBytes; ++i)
        info.name_text[i] = read(entry.name[i]);
    return info;
}

void raise_for(detail::BlockCall call, BlockHandle handle) noexcept {
    if (!has_observers()) [[likely]]
        return;
    if (const auto info = find_block(handle)) raise(call, *info);
}

BlockEntry& entry_of(BlockHandle handle) noexcept {
    return table.entries[static_cast<std::size_t>(handle.index())];
}

}  // namespace

std::string_view block_kind_name(BlockKind kind) noexcept {
    switch (kind) {
        case BlockKind::own:
            return "own";
        case BlockKind::borrowed:
            return "part";
        case BlockKind::scattered:
            return "scattered";
    }
    return "unknown";
}

void detail::hold_block_registry_for_fork() noexcept {
    changing.lock();
}
void detail::resume_block_registry() noexcept {
    changing.unlock();
}

BlockRegistration::BlockRegistration(const BlockDescription& description) noexcept {
    // Without it, blocks are listed all the same.
    static_cast<void>(detail::watch_forks());
    {
        const detail::WordLockScope scope(changing);
        write_header();
        BlockEntry* entry = find_free_entry();
        if (entry == nullptr) {
            unlisted_ = true;
            write(table.unlisted, table.unlisted + 1);
            return;
        }
        fill(*entry, description);
        const auto index = static_cast<std::uint32_t>(entry - table.entries.data());
        const std::uint32_t generation = read(entry->generation) + 1;
        // Readers that see the generation see what was filled in.
        std::atomic_ref(entry->generation).store(generation, std::memory_order_release);
        write(table.used_entries, std::max(table.used_entries, index + 1));
        handle_ = BlockHandle(index, generation);
    }
    raise_for(&MemoryObserver::on_block_registered, handle_);
}

BlockRegistration& BlockRegistration::operator=(BlockRegistration&& other) noexcept {
    if (this != &other) {
        remove();
        handle_ = std::exchange(other.handle_, {});
        unlisted_ = std::exchange(other.unlisted_, false);
    }
    return *this;
}

void BlockRegistration::update(std::size_t committed_bytes, std::size_t cursor_bytes,
                               std::size_t peak_bytes) noexcept {
    if (!is_listed()) return;
    const bool changed = read(entry_of(handle_).committed_bytes) != committed_bytes;
    update_silently(committed_bytes, cursor_bytes, peak_bytes);
    if (changed) raise_for(&MemoryObserver::on_block_changed, handle_);
}

void BlockRegistration::update_silently(std::size_t committed_bytes, std::size_t cursor_bytes,
                                        std::size_t peak_bytes) noexcept {
    if (!is_listed()) return;
    BlockEntry& entry = entry_of(handle_);
    const std::uint64_t peak = std::max(cursor_bytes, peak_bytes);
    write(entry.committed_bytes, committed_bytes);
    write(entry.cursor_bytes, cursor_bytes);
    write(entry.peak_bytes, std::max(read(entry.peak_bytes), peak));
    if (peak != 0) write(entry.use_is_told, 1);
}

void BlockRegistration::note_committed(std::size_t committed_bytes) noexcept {
    if (is_listed()) write(entry_of(handle_).committed_bytes, committed_bytes);
}

void BlockRegistration::note_use(std::size_t cursor_bytes, std::size_t peak_bytes) noexcept {
    if (!is_listed()) return;
    BlockEntry& entry = entry_of(handle_);
    std::atomic_ref(entry.cursor_bytes).store(cursor_bytes, std::memory_order_seq_cst);
    const std::uint64_t peak = std::max(cursor_bytes, peak_bytes);
    const std::atomic_ref told(entry.peak_bytes);
    std::uint64_t before = told.load(std::memory_order_relaxed);
    while (before < peak && !told.compare_exchange_weak(before, peak, std::memory_order_relaxed)) {
    }
    if (read(entry.use_is_told) == 0) write(entry.use_is_told, 1);
}

void BlockRegistration::update_reserved(std::size_t reserved_bytes) noexcept {
    if (is_listed()) write(entry_of(handle_).reserved_bytes, reserved_bytes);
}

void BlockRegistration::remove() noexcept {
    if (is_listed()) raise_for(&MemoryObserver::on_block_removed, handle_);
    if (!is_listed() && !unlisted_) return;
    const detail::WordLockScope scope(changing);
    if (unlisted_) {
        write(table.unlisted, table.unlisted - 1);
    } else {
        auto& generation = entry_of(handle_).generation;
        std::atomic_ref(generation).store(read(generation) + 1, std::memory_order_relaxed);
        // What the next owner fills in is not seen under the old generation.
        std::atomic_thread_fence(std::memory_order_release);
    }
    handle_ = {};
    unlisted_ = false;
}

Expected<BlockInfo> block_at(std::size_t index) noexcept {
    if (index >= kMaxListedBlocks) return Status::not_found;
    BlockEntry& entry = table.entries[index];
    const std::uint32_t before = read(entry.generation, std::memory_order_acquire);
    if (!is_listed_generation(before)) return Status::not_found;
    const BlockInfo info = copy_of(entry, index, before);
    std::atomic_thread_fence(std::memory_order_acquire);
    // Another owner's by now: this one is gone.
    if (read(entry.generation) != before) return Status::not_found;
    return info;
}

Expected<BlockInfo> find_block(BlockHandle handle) noexcept {
    if (handle.is_null()) return Status::stale_handle;
    const auto info = block_at(static_cast<std::size_t>(handle.index()));
    if (!info || info->handle != handle) return Status::stale_handle;
    return info;
}

std::size_t snapshot_blocks(std::span<BlockInfo> blocks) noexcept {
    std::size_t count = 0;
    visit_blocks([&](const BlockInfo& block) {
        if (count < blocks.size()) blocks[count] = block;
        ++count;
    });
    return count;
}

std::size_t listed_block_limit() noexcept {
    return read(table.used_entries, std::memory_order_acquire);
}

std::size_t unlisted_block_count() noexcept {
    return static_cast<std::size_t>(read(table.unlisted));
}

}  // namespace ouro
