#include "fork_safety.hpp"

#include <ouro/observe/default_tags.hpp>

#include <atomic>
#include <string_view>

namespace ouro {
namespace {

// The program's own of that name, wherever it stands, before a new one.
Tag make(std::string_view name, Tag parent = {}) noexcept {
    if (const auto known = find_tag(name)) return *known;
    const auto tag = register_tag(name, parent);
    return tag ? *tag : Tag{};
}

constinit DefaultTags g_tags;
constinit std::atomic<bool> g_are_made = false;
constinit detail::LedgerLock g_making;

DefaultTags make_all() noexcept {
    DefaultTags tags;
    tags.game = make("game");
    tags.creatures = make("creatures", tags.game);
    tags.components = make("components", tags.game);
    tags.behaviours = make("behaviours", tags.game);
    tags.world = make("world", tags.game);
    tags.rendering = make("rendering");
    tags.ui = make("ui");
    tags.audio = make("audio");
    tags.physics = make("physics");
    tags.network = make("network");
    tags.assets = make("assets");
    tags.temporary = make("temporary");
    tags.tooling = make("tooling");
    return tags;
}

}  // namespace

void detail::hold_default_tags_for_fork() noexcept {
    g_making.lock();
}
void detail::resume_default_tags() noexcept {
    g_making.unlock();
}

const DefaultTags& default_tags() noexcept {
    if (g_are_made.load(std::memory_order_acquire)) [[likely]]
        return g_tags;
    detail::watch_forks_of_ledger();
    // Everybody makes the same; outside of the lock, for registering takes one too.
    const DefaultTags tags = make_all();
    const detail::LedgerLockScope scope(g_making);
    if (!g_are_made.load(std::memory_order_relaxed)) g_tags = tags;
    g_are_made.store(true, std::memory_order_release);
    return g_tags;
}

}  // namespace ouro
