#pragma once

#include <ouro/streams/foreign_heap.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include <sqlite3.h>

namespace ouro::scenes {

// An inventory that is written in transactions over several ticks, with indexes, blobs and statements that
// stay open, by SQLite in memory. SQLite's hook has no context, so there is one at a time.
class SqliteScene {
public:
    static constexpr std::string_view kName = "SQLite";
    // Its page cache, its source of random numbers and its counters are variables.
    static constexpr std::array<std::string_view, 1> kLibraries = {"libsqlite3"};
    static constexpr std::size_t kSegmentBytes = std::size_t{4} << 20;

    static SqliteScene* create(ForeignHeap& heap, int items = 2000) {
        heap_in_use() = &heap;
        sqlite3_mem_methods methods = {
            [](int bytes) { return heap_in_use()->allocate_unsized(static_cast<std::size_t>(bytes)); },
            [](void* block) { heap_in_use()->free_unsized(block); },
            [](void* block, int bytes) {
                return heap_in_use()->resize_unsized(block, static_cast<std::size_t>(bytes));
            },
            [](void* block) {
                return block == nullptr ? 0 : static_cast<int>(ForeignHeap::size_unsized(block));
            },
            [](int bytes) { return (bytes + 15) & ~15; },
            [](void*) { return SQLITE_OK; },
            [](void*) {},
            nullptr};
        must(sqlite3_shutdown(), nullptr);
        must(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), nullptr);
        return ::new (heap.allocate_unsized(sizeof(SqliteScene))) SqliteScene(items);
    }
    // Its variables point into the heap: call this before the heap goes.
    static void end(SqliteScene* scene) {
        scene->~SqliteScene();
        must(sqlite3_shutdown(), nullptr);
    }

    explicit SqliteScene(int items) {
        must(sqlite3_open(":memory:", &database_), database_);
        run("PRAGMA temp_store = MEMORY;"
            "CREATE TABLE item(id INTEGER PRIMARY KEY, owner INTEGER, name TEXT, data BLOB);"
            "CREATE INDEX item_owner ON item(owner, name);"
            "CREATE TABLE event(tick INTEGER, text TEXT);");
        insert_ =
            prepare("INSERT INTO item(owner, name, data) VALUES(?1 % 37, 'item ' || ?1, zeroblob(?1 % 600))");
        change_ = prepare(
            "UPDATE item SET owner = (owner + ?1) % 41, data = randomblob(?1 % 300) WHERE id % 97 = ?1 % 97");
        remove_ = prepare("DELETE FROM item WHERE id IN (SELECT id FROM item ORDER BY id LIMIT 3)");
        event_ = prepare(
            "INSERT INTO event SELECT ?1, group_concat(name) FROM (SELECT name FROM item WHERE owner = ?1 % "
            "41 ORDER BY name LIMIT 5)");
        scan_ = prepare("SELECT id, length(data) FROM item ORDER BY owner, name");
        sum_ = prepare("SELECT count(*) + total(length(data)) + total(owner) FROM item");
        run("BEGIN");
        for (int item = 1; item <= items; ++item)
            run(insert_, item);
        run("COMMIT");
    }
    ~SqliteScene() {
        for (sqlite3_stmt* statement : {insert_, change_, remove_, event_, scan_, sum_})
            sqlite3_finalize(statement);
        must(sqlite3_close(database_), database_);
    }

    void step(std::uint64_t tick) {
        const auto number = static_cast<std::int64_t>(tick);
        // A transaction stays open over four ticks.
        if (sqlite3_get_autocommit(database_) != 0) run("BEGIN");
        run(insert_, number);
        run(insert_, number * 3 + 1);
        run(insert_, number * 7 + 2);
        run(change_, number);
        if (tick % 2 == 0) run(remove_, 0);
        run(event_, number);
        // One row a tick, from a statement that stays open.
        if (sqlite3_step(scan_) != SQLITE_ROW) sqlite3_reset(scan_);
        if (tick % 50 == 0) run("DELETE FROM event");
        if (tick % 4 == 3) run("COMMIT");
    }

    // Depends on all rows.
    [[nodiscard]] double sum() {
        must(sqlite3_step(sum_) == SQLITE_ROW ? SQLITE_OK : SQLITE_ERROR, database_);
        const double value = sqlite3_column_double(sum_, 0);
        sqlite3_reset(sum_);
        return value;
    }
    [[nodiscard]] sqlite3* database() { return database_; }

private:
    static ForeignHeap*& heap_in_use() {
        static ForeignHeap* heap = nullptr;
        return heap;
    }
    static void must(int outcome, sqlite3* database) {
        if (outcome == SQLITE_OK) return;
        std::fprintf(stderr, "SQLite: %s\n",
                     database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(outcome));
        std::abort();
    }
    void run(const char* text) { must(sqlite3_exec(database_, text, nullptr, nullptr, nullptr), database_); }
    void run(sqlite3_stmt* statement, std::int64_t value) {
        sqlite3_bind_int64(statement, 1, value);
        must(sqlite3_step(statement) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR, database_);
        must(sqlite3_reset(statement), database_);
    }
    sqlite3_stmt* prepare(const char* text) {
        sqlite3_stmt* statement = nullptr;
        must(sqlite3_prepare_v2(database_, text, -1, &statement, nullptr), database_);
        return statement;
    }

    sqlite3* database_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
    sqlite3_stmt* change_ = nullptr;
    sqlite3_stmt* remove_ = nullptr;
    sqlite3_stmt* event_ = nullptr;
    sqlite3_stmt* scan_ = nullptr;
    sqlite3_stmt* sum_ = nullptr;
};

}  // namespace ouro::scenes
