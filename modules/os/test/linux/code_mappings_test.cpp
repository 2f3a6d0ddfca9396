#include <ouro/os/code_mappings.hpp>

#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

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

// What linkers write into a file as an address need not be the place in the file.
TEST(CodeMappings, TellWhatTheFileItselfCallsTheAddress) {
    void* const module = ::dlopen(OURO_DISPLACED_MODULE, RTLD_NOW);
    ASSERT_NE(module, nullptr) << ::dlerror();
    const void* const function = ::dlsym(module, "ouro_displaced_function");
    Dl_info info{};
    void* symbol = nullptr;
    ASSERT_NE(::dladdr1(function, &info, &symbol, RTLD_DL_SYMENT), 0);
    const Found found = find(function);
    EXPECT_NE(found.path.find("displaced"), std::string::npos);
    const std::uint64_t value = static_cast<const ElfW(Sym)*>(symbol)->st_value;
    EXPECT_EQ(found.address - found.mapping.begin + found.mapping.address_in_file, value);
    EXPECT_NE(found.address - found.mapping.begin + found.mapping.file_offset, value);
    ::dlclose(module);
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
