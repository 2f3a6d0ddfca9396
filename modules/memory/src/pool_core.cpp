#include <ouro/memory/detail/block_assert.hpp>
#include <ouro/memory/pool_core.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace ouro {
namespace {

// Memory comes in steps of at least this much: asking the system costs microseconds.
constexpr std::size_t kLeastGrowthBytes = std::size_t{64} << 10;

}  // namespace

Expected<PoolOptions> PoolCore::complete(PoolOptions options) noexcept {
    if (options.block_bytes == 0 || options.max_blocks == 0) return Status::zero_size;
    if (!is_alignment(options.alignment) || options.alignment > kMaxAlignment) return Status::bad_alignment;
    // Not-a-number fails these too.
    if (!(options.growth_factor >= 1.0) || !(options.shrink_threshold >= 0.0)) return Status::bad_argument;
    if (options.initial_blocks > options.max_blocks) return Status::bad_argument;
    options.alignment = std::max(options.alignment, alignof(Node));
    const auto bytes = checked_align_up(std::max(options.block_bytes, sizeof(Node)), options.alignment);
    if (!bytes) return bytes.status();
    options.block_bytes = *bytes;
    return options;
}

// What the whole range needs when its start is aligned to `known_alignment` only.
Expected<std::size_t> PoolCore::bytes_for(const PoolOptions& complete_options,
                                          std::size_t known_alignment) noexcept {
    const auto blocks = checked_multiply(complete_options.block_bytes, complete_options.max_blocks);
    if (!blocks || complete_options.alignment <= known_alignment) return blocks;
    return checked_add(*blocks, complete_options.alignment - known_alignment);
}

Expected<PoolCore> PoolCore::reserve(const PoolOptions& options) noexcept {
    const auto wanted = complete(options);
    if (!wanted) return wanted.status();
    const auto bytes = bytes_for(*wanted, os::page_size());
    if (!bytes) return bytes.status();
    auto range = GrowingRange::reserve(
        {.max_bytes = *bytes, .step_bytes = kLeastGrowthBytes, .name = wanted->name, .tag = wanted->tag});
    if (!range) return range.status();
    if (const auto warm = range->prewarm(0, wanted->prewarm_bytes); !warm) return warm.status();
    PoolCore core(*std::move(range), *wanted);
    const auto committed = core.range_.grow(core.bytes_with(core.initial_blocks_));
    if (!committed) return committed.status();
    core.note_usable();
    core.publish();
    return core;
}

Expected<PoolCore> PoolCore::borrow(MemoryResource& upstream, const PoolOptions& options) noexcept {
    const auto wanted = complete(options);
    if (!wanted) return wanted.status();
    const auto bytes = bytes_for(*wanted, kDefaultAlignment);
    if (!bytes) return bytes.status();
    auto range = GrowingRange::borrow(upstream, *bytes, wanted->name, wanted->tag);
    if (!range) return range.status();
    return PoolCore(*std::move(range), *wanted);
}

PoolCore::PoolCore(GrowingRange range, const PoolOptions& options) noexcept
    : block_bytes_(options.block_bytes),
      alignment_(options.alignment),
      default_limit_(options.alignment >= kDefaultAlignment ? options.block_bytes : 0),
      begin_(range.whole().data + padding_to(range.whole().data, options.alignment)),
      initial_blocks_(options.initial_blocks),
      max_blocks_(options.max_blocks),
      growth_factor_(options.growth_factor),
      shrink_threshold_(options.shrink_threshold),
      range_(std::move(range)) {
    range_.tell_sanitizers();
    books_.fresh = begin_;
    note_usable();
}

PoolCore::PoolCore(PoolCore&& other) noexcept
    : state_(std::exchange(other.state_, 0)),
      block_bytes_(other.block_bytes_),
      alignment_(other.alignment_),
      default_limit_(other.default_limit_),
      begin_(other.begin_),
      books_(std::exchange(other.books_, {})),
      initial_blocks_(other.initial_blocks_),
      max_blocks_(std::exchange(other.max_blocks_, 0)),
      growth_factor_(other.growth_factor_),
      shrink_threshold_(other.shrink_threshold_),
      range_(std::move(other.range_)) {
    std::copy_n(other.magazine_.data(), in_magazine(), magazine_.data());
    remote_.head.store(other.remote_.head.exchange(nullptr, std::memory_order_relaxed),
                       std::memory_order_relaxed);
    remote_.count.store(other.remote_.count.exchange(0, std::memory_order_relaxed),
                        std::memory_order_relaxed);
    // What is left behind is a pool without any block.
    other.books_.fresh = other.books_.fresh_end = other.begin_;
}

PoolCore& PoolCore::operator=(PoolCore&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

std::size_t PoolCore::bytes_with(std::size_t blocks) const noexcept {
    return static_cast<std::size_t>(begin_ - range_.whole().data) + blocks * block_bytes_;
}

void PoolCore::note_usable() noexcept {
    const std::size_t skipped = bytes_with(0);
    const std::size_t usable = range_.usable_bytes() > skipped ? range_.usable_bytes() - skipped : 0;
    books_.fresh_end = begin_ + std::min(usable / block_bytes_, max_blocks_) * block_bytes_;
}

Status PoolCore::grow() noexcept {
    const auto blocks = static_cast<std::size_t>(books_.fresh_end - begin_) / block_bytes_;
    if (blocks >= max_blocks_) return Status::capacity_exhausted;
    const double target = static_cast<double>(blocks) * growth_factor_;
    const std::size_t wanted =
        target < static_cast<double>(max_blocks_) ? static_cast<std::size_t>(target) : max_blocks_;
    Status grown = range_.grow(bytes_with(std::max(wanted, blocks + 1))).status();
    // When there is not as much as the policy wants, what is needed now may still be there.
    if (grown != Status::ok && wanted > blocks + 1) grown = range_.grow(bytes_with(blocks + 1)).status();
    if (grown != Status::ok) return grown;
    ++books_.growths;
    books_.trim_below = ~std::size_t{0};
    note_usable();
    publish();
    return Status::ok;
}

Expected<MemoryBlock> PoolCore::take_slow() noexcept {
    if (books_.list == nullptr) books_.list = collect_remote();
    if (books_.list == nullptr) return take_fresh();
    refill();
    return take();
}

Expected<MemoryBlock> PoolCore::take_fresh() noexcept {
    if (books_.fresh == books_.fresh_end) {
        const Status grown = grow();
        if (grown != Status::ok) {
            ++books_.failures;
            return grown;
        }
    }
    state_ += kOneAllocation;
    return known_block(std::exchange(books_.fresh, books_.fresh + block_bytes_));
}

Status PoolCore::refuse(std::size_t size, std::size_t alignment) noexcept {
    ++books_.failures;
    const Status asked = check_allocation(size, alignment);
    if (asked != Status::ok) return asked;
    return alignment > alignment_ ? Status::bad_alignment : Status::capacity_exhausted;
}

// Requires: an empty magazine. The head of the list was freed last and comes to lie on top.
void PoolCore::refill() noexcept {
    Node* node = books_.list;
    std::size_t free_places = kMovedBlocks;
    while (node != nullptr && free_places != 0) {
        auto* const block = reinterpret_cast<std::byte*>(node);
        magazine_[--free_places] = block;
        node = node->next;
        annotate::forbid({block, sizeof(Node)});
    }
    books_.list = node;
    const std::size_t count = kMovedBlocks - free_places;
    if (free_places != 0) std::copy_n(magazine_.data() + free_places, count, magazine_.data());
    state_ += count;
    books_.left_list += count;
}

// Moves the `count` blocks freed longest ago to the list.
void PoolCore::spill(std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        annotate::permit({magazine_[i], sizeof(Node)});
        books_.list = ::new (magazine_[i]) Node{books_.list};
    }
    std::copy(magazine_.data() + count, magazine_.data() + in_magazine(), magazine_.data());
    state_ -= count;
    books_.spilled += count;
}

void PoolCore::give_back_slow(std::byte* block) noexcept {
    spill(kMovedBlocks);
    give_back(block);
    if (wants_trim()) {
        trim();
        books_.trim_below = live_blocks() / 2;
    }
}

void PoolCore::give_back_remotely(std::byte* block) noexcept {
    OURO_BLOCK_ASSERT(owns(block), "this is no block of the pool", nullptr, block);
    annotate::freed(range_.pool(), {block, block_bytes_});
    annotate::permit({block, sizeof(Node)});
    // Counted first: the owner never sees more blocks than were counted.
    remote_.count.fetch_add(1, std::memory_order_relaxed);
    Node* node = ::new (block) Node{remote_.head.load(std::memory_order_relaxed)};
    while (!remote_.head.compare_exchange_weak(node->next, node, std::memory_order_release,
                                               std::memory_order_relaxed)) {
    }
}

PoolCore::Node* PoolCore::collect_remote() noexcept {
    // Most pools have no such frees, and looking costs less than exchanging.
    if (remote_.head.load(std::memory_order_relaxed) == nullptr) return nullptr;
    Node* list = remote_.head.exchange(nullptr, std::memory_order_acquire);
    const std::uint64_t count = remote_.count.load(std::memory_order_relaxed);
    books_.longest_remote_queue = std::max(books_.longest_remote_queue, count - books_.collected);
    books_.collected = count;
    return list;
}

std::uint64_t PoolCore::on_lists() const noexcept {
    return books_.spilled + remote_.count.load(std::memory_order_relaxed) - books_.left_list;
}

std::size_t PoolCore::live_blocks() const noexcept {
    return touched_blocks() - in_magazine() - static_cast<std::size_t>(on_lists());
}

bool PoolCore::is_block(const void* address) const noexcept {
    const auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin_);
    return offset < static_cast<std::size_t>(books_.fresh - begin_) && offset % block_bytes_ == 0;
}

bool PoolCore::is_in_magazine(const std::byte* block) const noexcept {
    return std::find(magazine_.data(), magazine_.data() + in_magazine(), block) !=
           magazine_.data() + in_magazine();
}

}  // namespace ouro
