#include <ouro/os/code_mappings.hpp>

#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace {

using ouro::os::CodeMapping;
using ouro::os::for_each_code_mapping;

struct Found {
    std::uint64_t address = 0;
    CodeMapping mapping = {};
    std::string path = {};
    std::uint64_t last_end = 0;
    int visits = 0;
    bool is_ascending = true;
};

bool note(const CodeMapping& mapping, void* context) {
    auto& found = *static_cast<Found*>(context);
    ++found.visits;
    found.is_ascending = found.is_ascending && mapping.begin >= found.last_end && mapping.end > mapping.begin;
    found.last_end = mapping.end;
    if (found.address >= mapping.begin && found.address < mapping.end) {
        found.mapping = mapping;
        found.path = mapping.path;
    }
    return true;
}

Found find(const void* address) {
    Found found{.address = reinterpret_cast<std::uintptr_t>(address)};
    EXPECT_TRUE(for_each_code_mapping(note, &found));
    return found;
}

TEST(CodeMappings, NameTheFileOfAFunction) {
    const Found own = find(reinterpret_cast<const void*>(&note));
    EXPECT_NE(own.path.find("os_test"), std::string::npos);
    EXPECT_TRUE(own.is_ascending);
    const Found library = find(::dlsym(RTLD_DEFAULT, "qsort"));
    EXPECT_NE(library.path, own.path);
    EXPECT_EQ(library.path.front(), '/');
    EXPECT_EQ(library.mapping.file_offset % 4096, 0U);
}

TEST(CodeMappings, DataIsNone) {
    static const int data = 0;
    EXPECT_EQ(find(&data).path, "");
}

TEST(CodeMappings, AVisitMayStop) {
    int visits = 0;
    EXPECT_TRUE(for_each_code_mapping(
        [](const CodeMapping&, void* count) {
            ++*static_cast<int*>(count);
            return false;
        },
        &visits));
    EXPECT_EQ(visits, 1);
}

}  // namespace
