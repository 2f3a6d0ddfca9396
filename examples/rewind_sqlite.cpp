// A database in memory is rolled back, with an open transaction and a statement between two rows. SQLite
// keeps its page cache's lists and its random numbers in variables, and leaves addresses of the stack in its
// heap.
#include <ouro/os/steady_stack.hpp>
#include <ouro/streams/foreign_heap.hpp>
#include <ouro/streams/library_state.hpp>

#include <array>
#include <cstdio>
#include <optional>

#include <sqlite3.h>

// SQLite's hook has no context.
static std::optional<ouro::ForeignHeap> heap;

static const sqlite3_mem_methods kMethods = {
    [](int bytes) { return heap->allocate_unsized(static_cast<std::size_t>(bytes)); },
    [](void* block) { heap->free_unsized(block); },
    [](void* block, int bytes) { return heap->resize_unsized(block, static_cast<std::size_t>(bytes)); },
    [](void* block) {
        return block == nullptr ? 0 : static_cast<int>(ouro::ForeignHeap::size_unsized(block));
    },
    [](int bytes) { return (bytes + 15) & ~15; },
    [](void*) { return SQLITE_OK; },
    [](void*) {},
    nullptr};

int main() {
    constexpr auto kBound = ouro::SegmentKind::process_bound;
    const std::array segments = {
        ouro::SegmentOptions{
            .name = "database", .bytes = 8 << 20, .kind = kBound, .tracking = ouro::Tracking::automatic},
        ouro::SegmentOptions{.name = "variables", .bytes = 64 << 10, .kind = kBound}};
    auto ring = ouro::StateRing::create({.segments = segments, .history_bytes = 128 << 20});
    if (!ring || !keep_library(*ring, "variables", "libsqlite3")) return 1;
    heap = *ouro::ForeignHeap::create(*ring, "database");
    sqlite3* database = nullptr;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &kMethods) != SQLITE_OK ||
        sqlite3_open(":memory:", &database) != SQLITE_OK)
        return 1;
    const auto run = [&](const char* text) {
        return sqlite3_exec(database, text, nullptr, nullptr, nullptr);
    };
    run("CREATE TABLE loot(id INTEGER PRIMARY KEY, name TEXT, worth INTEGER); CREATE INDEX by_worth ON "
        "loot(worth); BEGIN");
    sqlite3_stmt* best = nullptr;  // stays open: one row a tick
    sqlite3_prepare_v2(database, "SELECT name, worth FROM loot ORDER BY worth DESC", -1, &best, nullptr);

    ouro::os::SteadyStack stack;
    const auto run_to = [&](ouro::Tick tick) {
        while (ring->newest() < tick) {
            const auto status = stack.call([&] {
                run("INSERT INTO loot(name, worth) VALUES(hex(randomblob(4)), abs(random()) % 1000)");
                if (sqlite3_step(best) != SQLITE_ROW) sqlite3_reset(best);
                if (ring->newest() % 10 == 9) run("COMMIT; BEGIN");
            });
            if (status != ouro::Status::ok || !ring->commit()) return;
        }
    };
    run_to(100);
    const std::uint64_t hash = *ring->hash(100, kBound);
    std::printf("tick 100: row %s of %lld, in a transaction\n", sqlite3_column_text(best, 0),
                static_cast<long long>(sqlite3_last_insert_rowid(database)));
    if (!ring->rollback(37)) return 1;
    std::printf("back at 37: row %s of %lld\n", sqlite3_column_text(best, 0),
                static_cast<long long>(sqlite3_last_insert_rowid(database)));
    run_to(100);
    const bool is_same = *ring->hash(100, kBound) == hash;
    std::printf("100 again: %s\n", is_same ? "every byte as before" : "other bytes");
    sqlite3_finalize(best);
    return sqlite3_close(database) == SQLITE_OK && sqlite3_shutdown() == SQLITE_OK && is_same ? 0 : 1;
}
