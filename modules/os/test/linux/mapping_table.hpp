#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

// The process's mappings as the kernel lists them, kept without touching the heap, whose own mappings would
// show up.
namespace ouro::os::testing_support {

struct MappingRow {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::array<char, 4> permissions{};

    friend bool operator==(const MappingRow&, const MappingRow&) = default;
};

class MappingTable {
public:
    static constexpr std::size_t kMaxRows = 8192;

    // Reads /proc/self/maps.
    void read();
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const MappingRow& operator[](std::size_t index) const { return rows_[index]; }

    // The rows of this table that the other has not, one per line; empty when there are none.
    [[nodiscard]] std::string rows_missing_in(const MappingTable& other) const;

private:
    void add_line(const char* line, std::size_t length);
    [[nodiscard]] bool has(const MappingRow& row) const;

    std::array<MappingRow, kMaxRows> rows_;
    std::size_t size_ = 0;
};

// Fails the test when the mappings at the end of the scope are not those at its start. The scope must not
// allocate from the heap for the first time: warm up before.
class NoMappingLeak {
public:
    NoMappingLeak();
    ~NoMappingLeak();
    NoMappingLeak(const NoMappingLeak&) = delete;
    NoMappingLeak& operator=(const NoMappingLeak&) = delete;

    // The same in two steps: remembers the mappings, and tells what changed since, or nothing.
    static void mark();
    [[nodiscard]] static std::string difference();

private:
    static MappingTable before_;
    static MappingTable after_;
};

}  // namespace ouro::os::testing_support
