#pragma once

#include <ouro/memory/hardening.hpp>

#include <array>
#include <string>
#include <string_view>

namespace ouro::testing_support {

enum class InjectedBug {
    overflow_by_one,
    underflow_by_one,
    far_overflow,
    read_after_free,
    write_after_free,
    double_free,
    wrong_size,
    wrong_alignment,
    wrong_resource,
    foreign_pointer,
    leak,
};

struct BugName {
    InjectedBug bug;
    std::string_view text;
};

inline constexpr std::array<BugName, 11> kBugs{{
    {InjectedBug::overflow_by_one, "overflow by 1 byte"},
    {InjectedBug::underflow_by_one, "underflow by 1 byte"},
    {InjectedBug::far_overflow, "write 1,000 bytes behind the end"},
    {InjectedBug::read_after_free, "read after free"},
    {InjectedBug::write_after_free, "write after free"},
    {InjectedBug::double_free, "double free"},
    {InjectedBug::wrong_size, "free with a wrong size"},
    {InjectedBug::wrong_alignment, "free with a wrong alignment"},
    {InjectedBug::wrong_resource, "free to another resource"},
    {InjectedBug::foreign_pointer, "free of a foreign pointer"},
    {InjectedBug::leak, "leak"},
}};

// Whether sanitizers are told of the blocks. Where they are, they stop at some bugs before we do.
enum class Annotate { yes, no };

// What a child process says that commits the bug over an upstream that checks nothing. The function
// load_texture allocates the block; unload_texture frees it where a bug comes after a free; free_at_last does
// the free that is wrong, or comes after the damage; write_to and read_from touch what they may not.
[[nodiscard]] std::string output_of(InjectedBug bug, HardeningTier tier, Annotate annotate);

// Commits the bug over an upstream that checks nothing, in a child process, and answers when it was noticed:
// "at the access", "at the free", "at the end", or "no".
[[nodiscard]] std::string_view when_noticed(InjectedBug bug, HardeningTier tier);

}  // namespace ouro::testing_support
