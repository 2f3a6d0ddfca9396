#pragma once

#include <cstdint>
#include <string_view>

// Asserts are for broken contracts between pieces of code. What a user, a file, a peer or the system can
// cause is a Status. Three tiers by cost, chosen at compile time with OURO_ASSERT_LEVEL:
//
//     OURO_ASSERT            level 0   in every build; cheap enough for release
//     OURO_DEBUG_ASSERT      level 1   in debug and sanitizer builds
//     OURO_EXPENSIVE_ASSERT  level 2   walks structures; in the builds that hunt for bugs
//
// An assert above the level does not evaluate its condition, but still compiles it.

#ifndef OURO_ASSERT_LEVEL
#    define OURO_ASSERT_LEVEL 0
#endif

namespace ouro {

struct AssertFailure {
    const char* condition;
    const char* message;
    const char* file;
    std::uint32_t line;
};

// May log, break into a debugger, or leave by longjmp or a test's exception. When it returns, the process
// aborts.
using AssertHandler = void (*)(const AssertFailure& failure);

// Installs the handler for the whole process and returns the one before. Null brings back the default, which
// prints the failure to standard error. Safe to call from any thread.
AssertHandler set_assert_handler(AssertHandler handler) noexcept;

// Calls the handler, then aborts. Not noexcept, so that a test's handler may throw.
[[noreturn]] void assert_failed(const char* condition, const char* message, const char* file,
                                std::uint32_t line);

// The same where more is known than the source says: the message is "message: detail", cut where it is long.
// Its text is there until the next such failure.
[[noreturn, gnu::cold]] void assert_failed(const char* condition, const char* message,
                                           std::string_view detail, const char* file, std::uint32_t line);

}  // namespace ouro

#define OURO_ASSERT_ENABLED_(condition, message)         \
    (static_cast<bool>(condition) ? static_cast<void>(0) \
                                  : ::ouro::assert_failed(#condition, message, __FILE__, __LINE__))
#define OURO_ASSERT_DISABLED_(condition, message) static_cast<void>(sizeof(static_cast<bool>(condition)))

#define OURO_ASSERT(condition, message) OURO_ASSERT_ENABLED_(condition, message)

#if OURO_ASSERT_LEVEL >= 1
#    define OURO_DEBUG_ASSERT(condition, message) OURO_ASSERT_ENABLED_(condition, message)
#else
#    define OURO_DEBUG_ASSERT(condition, message) OURO_ASSERT_DISABLED_(condition, message)
#endif

#if OURO_ASSERT_LEVEL >= 2
#    define OURO_EXPENSIVE_ASSERT(condition, message) OURO_ASSERT_ENABLED_(condition, message)
#else
#    define OURO_EXPENSIVE_ASSERT(condition, message) OURO_ASSERT_DISABLED_(condition, message)
#endif
