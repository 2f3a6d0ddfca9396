#include "composition.hpp"

#include "campaign_subjects.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/fallback_chain.hpp>
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/huge_page_arena.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/small_object_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/memory/tagged_allocator.hpp>
#include <ouro/memory/tlsf_allocator.hpp>
#include <ouro/memory/two_ended_stack.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <gtest/gtest.h>

namespace ouro::testing_support {
namespace {

// For the usual pair of create functions: memory of its own, or a block of another resource.
template <class Resource>
PartPointer build_usual(const Site& site) {
    if (site.upstreams.empty()) return hold(Resource::create({.max_bytes = site.bytes}));
    return hold(Resource::create_on(*site.upstreams[0], site.bytes));
}

// Returns memory after few resets already.
PartPointer build_frame(const Site& site) {
    if (!site.upstreams.empty()) return build_usual<FrameAllocator>(site);
    return hold(FrameAllocator::create({.max_bytes = site.bytes, .decay_resets = 2}));
}

PartPointer build_fallback(const Site& site) {
    return hold(FallbackChain::create(site.upstreams));
}

// Most of it in one chunk, so that a small block at first does not split what a large one needs later.
PartPointer build_huge(const Site& site) {
    if (!site.upstreams.empty()) return build_usual<HugePageArena>(site);
    return hold(HugePageArena::create(
        {.max_bytes = site.bytes, .initial_bytes = site.bytes / 4 * 3, .pages = os::PageKind::reserved}));
}

PartPointer build_system(const Site& site) {
    return hold(SystemAllocator::create({.max_bytes = site.bytes, .cache_bytes = site.bytes / 4}));
}

PartPointer build_tagged(const Site& site) {
    return hold_in_place<TaggedAllocator>(*site.upstreams[0], TaggedAllocator::Options{.name = "tagged"});
}

// Blocks go back at once, so that whatever is below sees them in the order of their frees; and some of the
// guarded ones get pages of their own.
template <HardeningTier kTier>
PartPointer build_guarded(const Site& site) {
    return hold(GuardedAllocator<kTier>::create_on(
        *site.upstreams[0],
        {.quarantine_blocks = 0, .report_leaks = false, .sample_every = 7, .guard_slots = 16}));
}

// What a guarded block of a pool has around it.
constexpr std::size_t kMaxCanaryBytes = kPoolAlignment + 16;

PartPointer build_pool(const Site& site) {
    const PoolOptions options{.block_bytes = kPoolBlockBytes,
                              .alignment = kPoolAlignment,
                              .max_blocks = site.bytes / kPoolBlockBytes};
    if (site.upstreams.empty()) return hold(PoolAllocator::create(options));
    return hold(PoolAllocator::create_on(*site.upstreams[0], options));
}

template <auto kEnd>
PartPointer build_end(const Site& site) {
    class EndHolder final : public Part {
    public:
        explicit EndHolder(TwoEndedStack stack) : stack_(std::move(stack)) {}
        [[nodiscard]] MemoryResource& resource() override { return (stack_.*kEnd)(); }
        void give_back() override { stack_.trim(); }

    private:
        TwoEndedStack stack_;
    };
    auto stack = site.upstreams.empty() ? TwoEndedStack::create({.max_bytes = site.bytes})
                                        : TwoEndedStack::create_on(*site.upstreams[0], site.bytes);
    if (!stack) return nullptr;
    return std::make_unique<EndHolder>(*std::move(stack));
}

constexpr Traits kOfPools{.max_size = kPoolBlockBytes, .max_alignment = kPoolAlignment};

// A new strategy is one line here.
const std::array kRecipes = {
    Recipe{.name = "fallback",
           .build = build_fallback,
           .least_upstreams = 1,
           .most_upstreams = 3,
           .passes_on = true,
           .listed = false,
           .any_link_serves = true},
    Recipe{.name = "frame", .build = build_frame},
    Recipe{.name = "guarded_checked",
           .build = build_guarded<HardeningTier::checked>,
           .least_upstreams = 1,
           .passes_on = true,
           .added_bytes = kMaxCanaryBytes,
           .listed = false},
    Recipe{.name = "guarded_hardened",
           .build = build_guarded<HardeningTier::hardened>,
           .least_upstreams = 1,
           // Guard pages come from the system, sealed or not, and by chance.
           .traits = {.keeps_seal = false},
           .passes_on = true,
           .added_bytes = kMaxCanaryBytes,
           .listed = false},
    Recipe{.name = "huge", .build = build_huge},
    Recipe{.name = "partition", .build = build_partition<ThreadSafety::single_thread>},
    Recipe{.name = "partition_shared", .build = build_partition<ThreadSafety::any_thread>},
    Recipe{.name = "pool", .build = build_pool, .traits = kOfPools},
    Recipe{.name = "small", .build = build_usual<SmallObjectAllocator>},
    Recipe{.name = "stack", .build = build_usual<StackAllocator>, .traits = {.newest_only = true}},
    Recipe{.name = "system", .build = build_system, .most_upstreams = 0},
    Recipe{.name = "tlsf", .build = build_usual<TlsfAllocator>},
    Recipe{.name = "tagged", .build = build_tagged, .least_upstreams = 1, .passes_on = true, .listed = false},
    Recipe{
        .name = "two_ended_back", .build = build_end<&TwoEndedStack::back>, .traits = {.newest_only = true}},
    Recipe{.name = "two_ended_front",
           .build = build_end<&TwoEndedStack::front>,
           .traits = {.newest_only = true}},
    Recipe{.name = "capacity_pool",
           .build = build_capacity_pool,
           .least_upstreams = 1,
           .passes_on = true,
           .listed = false,
           .many_blocks = true,
           .other_sizes = true,
           .campaign_only = true},
    Recipe{.name = "local_pool", .build = build_local_pool, .traits = kOfPools, .campaign_only = true},
    Recipe{.name = "object_pool",
           .build = build_object_pool,
           .traits = kOfPools,
           .many_blocks = true,
           .campaign_only = true},
    Recipe{.name = "partition_guarded_blocks",
           .build = build_partition<ThreadSafety::single_thread, PartitionGuards::blocks>,
           .most_upstreams = 0,
           .campaign_only = true,
           .native_only = true},
    Recipe{.name = "partition_guarded_spans",
           .build = build_partition<ThreadSafety::single_thread, PartitionGuards::spans>,
           .most_upstreams = 0,
           .campaign_only = true,
           .native_only = true},
    Recipe{.name = "tlsf_growing",
           .build = build_tlsf_growing,
           .least_upstreams = 1,
           .many_blocks = true,
           .campaign_only = true},
    Recipe{.name = "tlsf_heap", .build = build_tlsf_heap, .most_upstreams = 0, .campaign_only = true},
    Recipe{.name = "tlsf_regions", .build = build_tlsf_regions, .most_upstreams = 0, .campaign_only = true},
};

// Pages that fault between others need pages smaller than a span.
bool is_here(const Recipe& recipe) {
    return !recipe.native_only || os::page_size() < std::size_t{64} * 1024;
}

// Chains worth a name of their own, beside those that follow from the recipes.
constexpr std::array<std::string_view, 8> kChosen = {
    "frame(stack(frame))",
    "fallback(frame,system)",
    "fallback(stack,frame)",
    "tagged(fallback(frame,system))",
    "stack(tagged(tagged(system)))",
    "guarded_checked(pool)",
    // Its size from the pool, and all others from what comes behind it.
    "fallback(pool,system)",
    "fallback(pool,tlsf)",
};
constexpr std::array<std::string_view, 4> kChosenForCampaigns = {
    "fallback(local_pool,small)",
    "fallback(pool,stack,frame)",
    "guarded_checked(fallback(pool,tlsf))",
    "tagged(fallback(object_pool,partition,system))",
};

const Recipe* find_recipe(std::string_view name) {
    const auto found = std::ranges::find(kRecipes, name, &Recipe::name);
    return found == kRecipes.end() ? nullptr : &*found;
}

// Reads a composition from front to back and builds it from the inside out.
class Builder {
public:
    Builder(std::string_view text, std::vector<PartPointer>& parts, std::vector<std::string>& names)
        : rest_(text), parts_(parts), names_(names) {}

    // The traits of what stands on top, or nothing where the text or a part of it is no good.
    std::optional<Traits> build(std::size_t bytes) {
        auto traits = read_one(bytes);
        return rest_.empty() ? traits : std::nullopt;
    }

private:
    std::optional<Traits> read_one(std::size_t bytes) {
        const Recipe* recipe = find_recipe(read_name());
        if (recipe == nullptr) return std::nullopt;
        Traits traits = recipe->traits;
        std::vector<MemoryResource*> upstreams;
        if (skip('(')) {
            do {
                // What is below serves a block for what is on top, and what that needs beside its bytes.
                auto below = read_one(recipe->passes_on ? bytes : 2 * bytes);
                if (!below || !can_carry(*below, *recipe, bytes)) return std::nullopt;
                upstreams.push_back(&parts_.back()->resource());
                if (below->max_size != SIZE_MAX) below->max_size -= recipe->added_bytes;
                if (recipe->passes_on) traits = with_link(*recipe, traits, *below, upstreams.size() == 1);
            } while (skip(','));
            if (!skip(')')) return std::nullopt;
        }
        if (upstreams.size() < recipe->least_upstreams || upstreams.size() > recipe->most_upstreams)
            return std::nullopt;
        PartPointer part = recipe->build({.bytes = bytes, .upstreams = upstreams});
        if (part == nullptr) return std::nullopt;
        if (recipe->listed) names_.emplace_back(part->resource().info().name);
        parts_.push_back(std::move(part));
        return traits;
    }

    static bool can_carry(const Traits& below, const Recipe& recipe, std::size_t bytes) {
        if (recipe.many_blocks && below.newest_only) return false;
        if (recipe.passes_on) return !recipe.other_sizes || below.max_size == SIZE_MAX;
        return below.max_size >= bytes;
    }

    static Traits with_link(const Recipe& recipe, const Traits& so_far, const Traits& link, bool is_first) {
        Traits traits = both(so_far, link);
        if (!recipe.any_link_serves || is_first) return traits;
        traits.max_size = std::max(so_far.max_size, link.max_size);
        traits.max_alignment = std::max(so_far.max_alignment, link.max_alignment);
        return traits;
    }

    static Traits both(const Traits& one, const Traits& other) {
        return {.newest_only = one.newest_only || other.newest_only,
                .bounded = one.bounded && other.bounded,
                .max_size = std::min(one.max_size, other.max_size),
                .max_alignment = std::min(one.max_alignment, other.max_alignment),
                .keeps_seal = one.keeps_seal && other.keeps_seal};
    }

    std::string_view read_name() {
        const std::size_t length = std::min(rest_.find_first_of("(,)"), rest_.size());
        const std::string_view name(rest_.data(), length);
        rest_.remove_prefix(length);
        return name;
    }

    bool skip(char wanted) {
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }

    std::string_view rest_;
    std::vector<PartPointer>& parts_;
    std::vector<std::string>& names_;
};

// What a composition must be able to do for what stands on it.
struct Wanted {
    // Blocks are freed in any order.
    bool any_order = false;
    // Blocks of any size are asked for.
    bool any_size = false;
};

// What the link of so many must be able to do.
Wanted wanted_below(const Recipe& recipe, const Wanted& wanted, bool is_last) {
    if (!recipe.passes_on) return {.any_order = recipe.many_blocks, .any_size = true};
    return {.any_order = recipe.many_blocks || wanted.any_order,
            .any_size = recipe.other_sizes || (wanted.any_size && (is_last || !recipe.any_link_serves))};
}

bool is_fit(const Recipe& recipe, const Wanted& wanted, int levels) {
    if (!is_here(recipe) || (recipe.least_upstreams != 0 && levels == 1)) return false;
    return !(wanted.any_order && recipe.traits.newest_only) &&
           !(wanted.any_size && recipe.traits.max_size < SIZE_MAX);
}

// Writes a random composition whose top can carry what is asked of it.
std::string write_random(Random& random, int levels, const Wanted& wanted) {
    for (;;) {
        const Recipe& recipe = kRecipes[random.below(kRecipes.size())];
        if (!is_fit(recipe, wanted, levels)) continue;
        const std::size_t least = recipe.least_upstreams;
        const std::size_t most = levels == 1 ? 0 : recipe.most_upstreams;
        const std::size_t count = least + random.below(static_cast<std::uint32_t>(most - least + 1));
        std::string text(recipe.name);
        for (std::size_t i = 0; i < count; ++i) {
            text += i == 0 ? '(' : ',';
            text += write_random(random, levels - 1, wanted_below(recipe, wanted, i + 1 == count));
        }
        if (count != 0) text += ')';
        return text;
    }
}

void add_usual(const Recipe& recipe, std::vector<std::string>& table) {
    if (recipe.least_upstreams == 0) table.emplace_back(recipe.name);
    for (const std::string_view below : {"frame", "stack", "system"}) {
        const bool carries = !(recipe.many_blocks && find_recipe(below)->traits.newest_only);
        if (recipe.least_upstreams <= 1 && recipe.most_upstreams >= 1 && carries)
            table.push_back(std::string(recipe.name) + "(" + std::string(below) + ")");
    }
}

}  // namespace

Composition::Composition(std::string_view text, std::size_t bytes, WhenRefused when_refused) {
    const auto traits = Builder(text, parts_, listed_names_).build(bytes);
    if (traits) {
        traits_ = *traits;
        return;
    }
    if (when_refused == WhenRefused::fail_the_test)
        ADD_FAILURE() << "cannot build the composition " << std::string(text);
    while (!parts_.empty())
        parts_.pop_back();
}

Composition::~Composition() {
    while (!parts_.empty())
        parts_.pop_back();
}

void Composition::give_back() {
    for (std::size_t i = parts_.size(); i != 0; --i)
        parts_[i - 1]->give_back();
}

ResourceModel::Limits Composition::limits() const {
    ResourceModel::Limits limits;
    limits.max_size = std::min(limits.max_size, traits_.max_size);
    limits.max_alignment = std::min(limits.max_alignment, traits_.max_alignment);
    limits.newest_only = traits_.newest_only;
    return limits;
}

std::vector<std::string> composition_table() {
    std::vector<std::string> table;
    for (const Recipe& recipe : kRecipes)
        if (!recipe.campaign_only) add_usual(recipe, table);
    table.insert(table.end(), kChosen.begin(), kChosen.end());
    return table;
}

std::vector<std::string> campaign_table() {
    std::vector<std::string> table = composition_table();
    for (const Recipe& recipe : kRecipes)
        if (recipe.campaign_only && is_here(recipe)) add_usual(recipe, table);
    table.insert(table.end(), kChosenForCampaigns.begin(), kChosenForCampaigns.end());
    return table;
}

std::string random_composition(std::uint64_t seed, FreeOrder order) {
    Random random(seed);
    const bool is_any = order == FreeOrder::any;
    return write_random(random, 4, {.any_order = is_any, .any_size = is_any});
}

std::string composition_label(std::string_view text) {
    std::string label;
    for (const char letter : text) {
        if (letter == '(') {
            label += "_on_";
        } else if (letter == ',') {
            label += "_and_";
        } else if (letter != ')') {
            label += letter;
        }
    }
    return label;
}

}  // namespace ouro::testing_support
