#pragma once

#include <ouro/base/assert.hpp>

#include <cstdint>
#include <source_location>

// "No allocation here", said in the code and checked: while a NoAllocationScope lives, an allocation on its
// thread asserts with the scope's name and place.
//
//     NoAllocationScope quiet("simulation tick");
//     simulate();                       // an allocation in here ends the program with a message
//     {
//         AllowAllocationScope hole;    // except in here
//         log_something();
//     }
//
// Checked in every build for what is allocated through an Allocator; where debug asserts are on, also for
// calls to the strategies themselves. Freeing is always allowed.
namespace ouro {

class NoAllocationScope {
public:
    // Requires: the name outlives the scope. Scopes nest; the innermost is the one that is named.
    explicit NoAllocationScope(const char* name,
                               std::source_location place = std::source_location::current()) noexcept;
    ~NoAllocationScope();
    NoAllocationScope(const NoAllocationScope&) = delete;
    NoAllocationScope& operator=(const NoAllocationScope&) = delete;

    [[nodiscard]] const char* name() const noexcept { return name_; }
    [[nodiscard]] const char* file() const noexcept { return file_; }
    [[nodiscard]] std::uint32_t line() const noexcept { return line_; }

private:
    const char* name_;
    const char* file_;
    std::uint32_t line_;
    const NoAllocationScope* outer_;
};

// Lifts what the scopes around it forbid, on its thread, until its end.
class AllowAllocationScope {
public:
    AllowAllocationScope() noexcept;
    ~AllowAllocationScope();
    AllowAllocationScope(const AllowAllocationScope&) = delete;
    AllowAllocationScope& operator=(const AllowAllocationScope&) = delete;

private:
    const NoAllocationScope* outer_;
};

namespace detail {

// The innermost scope of this thread that is in force, or null.
inline constinit thread_local const NoAllocationScope* no_allocation_scope = nullptr;

// Asserts that nothing is allocated in the scope.
[[noreturn, gnu::cold]] void refuse_allocation_in(const NoAllocationScope& scope);

}  // namespace detail

[[nodiscard]] inline bool is_allocation_allowed() noexcept {
    return detail::no_allocation_scope == nullptr;
}

// Asserts that this thread may allocate now.
inline void check_allocation_allowed() {
    const NoAllocationScope* scope = detail::no_allocation_scope;
    if (scope != nullptr) [[unlikely]]
        detail::refuse_allocation_in(*scope);
}

// What a strategy calls where it begins to allocate; nothing in builds without debug asserts.
inline void note_allocation() {
    if constexpr (OURO_ASSERT_LEVEL >= 1) check_allocation_allowed();
}

}  // namespace ouro
