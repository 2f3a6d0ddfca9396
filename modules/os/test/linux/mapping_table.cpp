#include "mapping_table.hpp"

#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace ouro::os::testing_support {

MappingTable NoMappingLeak::before_;
MappingTable NoMappingLeak::after_;

void MappingTable::read() {
    static char buffer[1 << 20];
    const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    std::size_t filled = 0;
    for (;;) {
        const ssize_t count = ::read(file, buffer + filled, sizeof(buffer) - filled);
        if (count <= 0) break;
        filled += static_cast<std::size_t>(count);
    }
    ::close(file);
    ASSERT_LT(filled, sizeof(buffer));
    size_ = 0;
    for (const char* line = buffer; line < buffer + filled;) {
        const auto* end = static_cast<const char*>(
            std::memchr(line, '\n', filled - static_cast<std::size_t>(line - buffer)));
        if (end == nullptr) break;
        add_line(line, static_cast<std::size_t>(end - line));
        line = end + 1;
    }
}

#if defined(__SANITIZE_ADDRESS__)
// The address sanitizer keeps each new call stack of an allocation, and maps memory for them now and then,
// anywhere: programs that watch their mappings do without.
extern "C" const char* __asan_default_options();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __asan_default_options() {
    return "malloc_context_size=0";
}
#endif

// The address sanitizer's heap grows when it likes, at addresses of its own.
static bool is_sanitizer_heap([[maybe_unused]] std::uint64_t address) {
#if defined(__SANITIZE_ADDRESS__)
    return address >= 0x600000000000 && address < 0x640000000000;
#else
    return false;
#endif
}

void MappingTable::add_line(const char* line, std::size_t length) {
    char text[128] = {};
    std::memcpy(text, line, length < sizeof(text) - 1 ? length : sizeof(text) - 1);
    MappingRow row;
    char permissions[5] = {};
    unsigned long begin = 0;
    unsigned long end = 0;
    ASSERT_EQ(std::sscanf(text, "%lx-%lx %4s", &begin, &end, permissions), 3);
    if (is_sanitizer_heap(begin)) return;
    row.begin = begin;
    row.end = end;
    std::memcpy(row.permissions.data(), permissions, row.permissions.size());
    ASSERT_LT(size_, kMaxRows);
    rows_[size_++] = row;
}

bool MappingTable::has(const MappingRow& row) const {
    for (std::size_t i = 0; i < size_; ++i) {
        if (rows_[i] == row) return true;
    }
    return false;
}

std::string MappingTable::rows_missing_in(const MappingTable& other) const {
    std::string text;
    for (std::size_t i = 0; i < size_; ++i) {
        if (other.has(rows_[i])) continue;
        char line[96];
        std::snprintf(line, sizeof(line), "  %lx-%lx %.4s\n", static_cast<unsigned long>(rows_[i].begin),
                      static_cast<unsigned long>(rows_[i].end), rows_[i].permissions.data());
        text += line;
    }
    return text;
}

NoMappingLeak::NoMappingLeak() {
    mark();
}

void NoMappingLeak::mark() {
    before_.read();
}

NoMappingLeak::~NoMappingLeak() {
    EXPECT_EQ(difference(), "") << "the table of mappings changed";
}

std::string NoMappingLeak::difference() {
    after_.read();
    const std::string lost = before_.rows_missing_in(after_);
    const std::string added = after_.rows_missing_in(before_);
    std::string text;
    if (!lost.empty()) text += "gone:\n" + lost;
    if (!added.empty()) text += "new:\n" + added;
    return text;
}

}  // namespace ouro::os::testing_support
