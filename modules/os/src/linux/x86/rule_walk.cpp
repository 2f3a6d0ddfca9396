#include "code_object.hpp"
#include "frame_rule.hpp"
#include "linux/caller_list.hpp"
#include "linux/stack_bounds.hpp"
#include "unwind_tables.hpp"

#include <ouro/base/hash.hpp>

#include <array>
#include <atomic>

namespace ouro::os {
namespace {

constexpr std::uintptr_t kWord = sizeof(std::uintptr_t);

// Rules that were found before, for all threads. An entry is one word, so that nobody meets half of one: the
// rule, and above it as much as fits of a hash of the address and the object it is in. A rule for something
// else, or for what was loaded there before, is taken for this one's once in 2^39 such meetings; what that
// leads to is a wrong address in the stack at worst.
class RuleCache {
public:
    [[nodiscard]] FrameRule find(std::uint64_t hash) const noexcept {
        const std::uint64_t entry = entries_[hash % kEntries].load(std::memory_order_relaxed);
        return entry >> FrameRule::kBits == hash >> FrameRule::kBits ? FrameRule::from_bits(entry)
                                                                     : FrameRule{};
    }
    void keep(std::uint64_t hash, FrameRule rule) noexcept {
        entries_[hash % kEntries].store(hash >> FrameRule::kBits << FrameRule::kBits | rule.to_bits(),
                                        std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t kEntries = 8192;
    static_assert(std::size_t{1} << FrameRule::kBits >= kEntries, "the hash's low bits choose the entry");

    std::array<std::atomic<std::uint64_t>, kEntries> entries_;
};
constinit RuleCache g_rules;

FrameRule rule_at(const CodeObject& object, std::uintptr_t address) noexcept {
    const std::uint64_t hash = mix_bits(object.identity + address);
    if (object.identity != 0) [[likely]] {
        const FrameRule known = g_rules.find(hash);
        if (known.kind != FrameKind::unknown) [[likely]]
            return known;
    }
    const FrameRule rule = find_frame_rule(tables_of(object), address);
    if (object.identity != 0) g_rules.keep(hash, rule);
    return rule;
}

// The part of the stack that is not behind the walk.
struct StackPart {
    std::uintptr_t low;
    std::uintptr_t high;

    // Rules that are wrong may lead to what sanitizers guard.
    [[gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool read(std::uintptr_t address,
                                                                    std::uintptr_t& word) const noexcept {
        if (address < low || address > high - kWord || address % kWord != 0) return false;
        word = *reinterpret_cast<const std::uintptr_t*>(address);
        return true;
    }
};

// Goes to the caller. False when the frame leads out of the stack or inwards: what it was told from is wrong.
bool go_to_caller(const FrameRule& rule, CallPlace& place, std::uintptr_t high) noexcept {
    const StackPart stack{place.stack, high};
    std::uintptr_t end = (rule.end == FrameEnd::from_stack ? place.stack : place.frame) + rule.offset * kWord;
    std::uintptr_t frame = place.frame;
    if (rule.end == FrameEnd::saved_in_frame) {
        if (!stack.read(place.frame - rule.offset * kWord, end) || !stack.read(place.frame, frame))
            return false;
    }
    if (!stack.read(end - kWord, place.address)) return false;
    if (rule.saved_frame != 0 && !stack.read(end - rule.saved_frame * kWord, frame)) return false;
    place.stack = end;
    place.frame = frame;
    return true;
}

}  // namespace

bool walk_by_rules(CallPlace place, CallerList& list) noexcept {
    const StackBounds bounds = bounds_around(place.stack);
    if (!bounds.contain(place.stack)) return false;
    ObjectsOnTheWay objects;
    while (place.address != 0 && list.add(place.address)) {
        // The call itself: what follows it may be another function's, or none.
        const std::uintptr_t call = place.address - 1;
        const CodeObject* const object = objects.find(call);
        if (object == nullptr) return false;
        const FrameRule rule = rule_at(*object, call);
        if (rule.kind == FrameKind::unsupported) return false;
        if (rule.kind == FrameKind::outermost || !go_to_caller(rule, place, bounds.high)) return true;
    }
    return true;
}

}  // namespace ouro::os
