#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/jobs/detail/loop_order.hpp>
#include <ouro/jobs/job_pool.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace ouro {

enum class Split : unsigned char {
    // Each participant starts with an equal share and takes a small part of what is left of it at a time, a
    // chunk of `grain` at least; whoever has nothing left takes half of what another has. For work that is
    // uneven, or on a machine that does other things too.
    dynamic,
    // One call a share: as many as there are participants, the first ones longer by a chunk where it does not
    // come out even. Participant w takes share w where it comes in time, so that a thread meets the same
    // elements each time; the others' when they do not.
    even,
};

struct IndexRange {
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] constexpr std::size_t size() const noexcept { return end - begin; }
    friend constexpr bool operator==(IndexRange, IndexRange) noexcept = default;
};

// Part number `part` when `count` elements are split into contiguous parts that differ by one at most, the
// longer ones first. Depends on the numbers alone: results kept by part are the same for any pool. Requires:
// part < parts.
[[nodiscard]] constexpr IndexRange even_range(std::size_t count, std::size_t parts,
                                              std::size_t part) noexcept {
    OURO_DEBUG_ASSERT(part < parts, "there are not so many parts");
    const std::size_t length = count / parts;
    const std::size_t longer = count % parts;
    const std::size_t begin = part * length + (part < longer ? part : longer);
    return {begin, begin + length + (part < longer ? 1 : 0)};
}

// Calls fn(begin, end) or fn(begin, end, participant) for ranges that cover 0 to count, each index once, on
// the caller and on whatever workers have time; returns when all calls have. What the caller wrote before is
// visible in fn, and what fn wrote is visible afterwards. `participant` is below pool.participant_count(),
// and no two calls that run at once have the same.
//
// Ranges begin at multiples of `grain` (0 counts as 1) and are as long as `split` says; with no workers, or
// when there is one chunk only, it is one call. Nothing may depend on where they begin, nor on their order.
//
// fn is used by reference, from several threads at once, and may not throw. It may call parallel_for and post
// on the same pool: inner loops are shared out as well. Its calls may not wait for one another, since there
// may be one thread only. The caller takes up no other work while it waits, and never waits for something
// that nobody has begun, so that nothing here can deadlock by itself.
template <class Fn>
void parallel_for(JobPool& pool, std::size_t count, std::size_t grain, Fn&& fn,
                  Split split = Split::dynamic) noexcept {
    using Body = std::remove_reference_t<Fn>;
    static_assert(std::is_invocable_v<Body&, std::size_t, std::size_t> ||
                      std::is_invocable_v<Body&, std::size_t, std::size_t, unsigned>,
                  "a loop's body is called as fn(begin, end) or fn(begin, end, participant)");
    if constexpr (std::is_function_v<Body>) {
        parallel_for(pool, count, grain, &fn, split);
    } else {
        if (count == 0) return;
        if (pool.worker_count() == 0 || count <= grain) {
            detail::call_body(fn, 0, count, pool);
            return;
        }
        const auto call = [](void* body, std::size_t begin, std::size_t end, unsigned participant) noexcept {
            detail::call_body(*static_cast<Body*>(body), begin, end, participant);
        };
        // A body may be const; it is only ever called as what it is.
        auto* body = const_cast<std::remove_const_t<Body>*>(std::addressof(fn));
        detail::run_loop(pool, {call, body, count, grain != 0 ? grain : 1, split == Split::even});
    }
}

}  // namespace ouro
