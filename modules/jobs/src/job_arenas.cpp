#include "arena_table.hpp"
#include "pool_state.hpp"

#include <ouro/base/align.hpp>

#include <algorithm>
#include <bit>
#include <memory>

namespace ouro {
namespace detail {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local ScratchScope* t_scope = nullptr;

}  // namespace

Arena* ArenaTable::of_this_worker() const noexcept {
    const unsigned participant = pool_ != nullptr ? pool_->current_participant() : 0;
    return participant != 0 ? &arenas_[participant - 1] : nullptr;
}

Arena* ArenaTable::lend() noexcept {
    const unsigned place = lent_.claim();
    if (place != PlaceSet::kNone) return &arenas_[workers_ + place];
    refused_scopes_.add_shared(1);
    return nullptr;
}

void ArenaTable::take_back(const Arena& arena) noexcept {
    const auto index = static_cast<unsigned>(&arena - arenas_.data());
    if (index >= workers_) lent_.release(index - workers_);
}

JobArenasStats ArenaTable::stats() const noexcept {
    JobArenasStats stats;
    stats.arenas = static_cast<unsigned>(arenas_.size());
    stats.lent_arenas = static_cast<unsigned>(std::popcount(lent_.used()));
    stats.refused_scopes = refused_scopes_.value();
    for (const Arena& arena : arenas_) {
        const std::size_t bytes = arena.high_water_bytes.load(std::memory_order_relaxed);
        stats.high_water_bytes = std::max(stats.high_water_bytes, bytes);
        stats.total_high_water_bytes += bytes;
        stats.scopes += arena.scopes.value();
    }
    return stats;
}

Status ArenaTable::check() const noexcept {
    if (is_lending()) return Status::corrupt_data;
    for (const Arena& arena : arenas_) {
        if (arena.frame->used_bytes() != 0) return Status::corrupt_data;
        if (const Status status = arena.frame->check(); status != Status::ok) return status;
    }
    return Status::ok;
}

void ArenaTable::end_all() noexcept {
    std::destroy(arenas_.begin(), arenas_.end());
}

}  // namespace detail

Expected<JobArenas> JobArenas::create(JobPool& pool, const JobArenasOptions& options) noexcept {
    if (options.outside_threads > kMaxOutsideThreads) return Status::bad_argument;
    const std::size_t count = pool.worker_count() + options.outside_threads;
    const std::size_t table_bytes = align_up(sizeof(detail::ArenaTable), alignof(detail::Arena));
    const std::size_t bytes = align_up(table_bytes + count * sizeof(detail::Arena), os::page_size());
    auto memory = os::Reservation::create({.bytes = bytes});
    if (!memory) return memory.status();
    if (const auto committed = memory->commit(0, bytes); !committed) return committed.status();
    const std::span arenas(reinterpret_cast<detail::Arena*>(memory->block().data + table_bytes), count);
    for (std::size_t i = 0; i < count; ++i) {
        auto frame = FrameAllocator::create({.name = options.name,
                                             .tag = tag_or(options.tag, "job arenas"),
                                             .max_bytes = options.max_bytes,
                                             .commit_step_bytes = options.commit_step_bytes,
                                             .decay_resets = 0,
                                             .prewarm_bytes = options.prewarm_bytes});
        if (!frame) {
            std::destroy(arenas.begin(), arenas.begin() + static_cast<std::ptrdiff_t>(i));
            return frame.status();
        }
        std::construct_at(&arenas[i])->frame.emplace(*std::move(frame));
    }
    auto* table = std::construct_at(reinterpret_cast<detail::ArenaTable*>(memory->block().data),
                                    detail::PoolState::of(pool), arenas, pool.worker_count());
    return JobArenas(table, *std::move(memory));
}

JobArenas& JobArenas::operator=(JobArenas&& other) noexcept {
    if (this != &other) {
        shut_down();
        table_ = std::exchange(other.table_, nullptr);
        memory_ = std::move(other.memory_);
    }
    return *this;
}

void JobArenas::shut_down() noexcept {
    if (table_ == nullptr) return;
    OURO_ASSERT(!table_->is_lending(), "arenas go when nobody is in a scope on them");
    table_->end_all();
    table_ = nullptr;
}

JobArenasStats JobArenas::stats() const noexcept {
    return table_ != nullptr ? table_->stats() : JobArenasStats{};
}

Status JobArenas::check() const noexcept {
    return table_ != nullptr ? table_->check() : Status::ok;
}

ScratchScope::ScratchScope(JobArenas& arenas) noexcept
    : table_(arenas.table_), outer_(std::exchange(detail::t_scope, this)) {
    OURO_ASSERT(table_ != nullptr, "arenas that were moved from have no memory");
    for (const ScratchScope* scope = outer_; scope != nullptr; scope = scope->outer_) {
        if (scope->table_ != table_ || scope->arena_ == nullptr) continue;
        arena_ = scope->arena_;
        is_outermost_ = false;
        break;
    }
    if (arena_ == nullptr) arena_ = table_->of_this_worker();
    if (arena_ == nullptr) arena_ = table_->lend();
    if (arena_ == nullptr) return;
    frame_ = &*arena_->frame;
    start_ = frame_->mark();
    arena_->scopes.add(1);
}

ScratchScope::~ScratchScope() {
    OURO_ASSERT(detail::t_scope == this, "scopes end in the opposite order, on the thread that opened them");
    detail::t_scope = outer_;
    if (frame_ == nullptr) return;
    frame_->rewind(start_);
    if (!is_outermost_) return;
    arena_->high_water_bytes.store(frame_->stats().peak_bytes, std::memory_order_relaxed);
    table_->take_back(*arena_);
}

}  // namespace ouro
