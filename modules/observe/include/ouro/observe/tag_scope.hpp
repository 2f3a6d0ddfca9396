#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/observing.hpp>

#include <utility>

namespace ouro {
// What this thread's allocations are for now: untagged outside of every scope, and where observing is
// compiled out.
[[nodiscard]] inline Tag current_tag() noexcept {
    if constexpr (!kObserving) return {};
    return detail::t_ledger.tag.trailer.tag();
}

// From here to the end of the scope, what this thread allocates from a ChargedAllocator without a tag of its
// own is charged to the tag. Scopes nest; each brings back what was before. A tag belongs to a thread:
// whoever hands work to another thread hands over current_tag() with it.
//
//     const TagScope scope(default_tags().creatures);
class TagScope {
public:
    // Requires: a registered tag (assert).
    explicit TagScope([[maybe_unused]] Tag tag) noexcept {
        if constexpr (kObserving) {
            OURO_ASSERT(tag.id() < tag_count(), "the tag was not registered");
            before_ = std::exchange(detail::t_ledger.tag, detail::ChargedTag(tag));
        }
    }
    ~TagScope() {
        if constexpr (kObserving) detail::t_ledger.tag = before_;
    }
    TagScope(const TagScope&) = delete;
    TagScope& operator=(const TagScope&) = delete;

private:
    detail::ChargedTag before_;
};

}  // namespace ouro
