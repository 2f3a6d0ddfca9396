#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/detail/word_lock.hpp>
#include <ouro/observe/detail/pressure_image.hpp>
#include <ouro/observe/detail/pressure_levels.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ouro {

class PressureHandler;

inline constexpr std::size_t kMaxPressureHandlers = 64;

}  // namespace ouro

namespace ouro::detail {

// Before the first of all places.
struct HandlerCursor {
    std::int64_t priority = INT64_MIN;
    std::uint64_t number = 0;
};

// What a caller may know of a handler that may be gone when it returns.
struct HandlerCall {
    PressureHandler* handler = nullptr;
    std::uint64_t number = 0;
    std::array<char, kHandlerNameBytes + 1> name{};
};

struct HandlerRemoval {
    bool was_there = false;
    bool is_running = false;
};

// The handlers of a monitor by priority. Whoever walks it holds no lock while a handler runs: the cursor is a
// place in the order, not in memory, so that handlers may come and go meanwhile.
class HandlerTable {
public:
    Expected<void> add(PressureHandler& handler, int priority, std::string_view name) noexcept;
    // A handler that is running may be in the table or not: it can remove itself, and add itself again.
    [[nodiscard]] HandlerRemoval remove(PressureHandler& handler) noexcept;

    // The next one behind the cursor that is not left alone now, which runs from here to end_call; false when
    // there is none. Called by one thread at a time.
    [[nodiscard]] bool begin_next(HandlerCursor& cursor, PressureLevel level, std::uint64_t now_ns,
                                  HandlerCall& call) noexcept;
    // A handler that freed nothing is left alone for a while, one that did is not.
    void end_call(const HandlerCall& call, bool was_useful, PressureLevel level, std::uint64_t now_ns,
                  const PressureOptions& options) noexcept;

    // How many were ever added.
    [[nodiscard]] std::uint64_t added() const noexcept;

private:
    struct Place {
        PressureHandler* handler = nullptr;
        std::int64_t priority = 0;
        // Never zero, never the same twice.
        std::uint64_t number = 0;
        Pause pause{};
        std::array<char, kHandlerNameBytes + 1> name{};
    };
    [[nodiscard]] Place* find(const PressureHandler* handler) noexcept;

    mutable WordLock lock_;
    std::array<Place, kMaxPressureHandlers> places_{};
    std::uint64_t added_ = 0;
    const PressureHandler* running_ = nullptr;
};

}  // namespace ouro::detail
