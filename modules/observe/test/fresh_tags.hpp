#pragma once

#include <ouro/memory/tag.hpp>

#include <cstdio>

#include <gtest/gtest.h>

namespace ouro::test {

// A tag that no other test of the program uses: the ledger is the process's.
inline Tag fresh_tag(Tag parent = {}) {
    static unsigned number = 0;
    char name[32];
    std::snprintf(name, sizeof name, "test-%u", number++);
    const auto tag = register_tag(name, parent);
    EXPECT_TRUE(tag);
    return tag ? *tag : Tag{};
}

}  // namespace ouro::test
