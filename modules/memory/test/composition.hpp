#pragma once

#include "resource_model.hpp"

#include <ouro/base/expected.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Resources built from text, so that tests ask the same of every strategy and of what is made of several:
// "frame", "stack(frame)", "fallback(frame,stack)". A name stands in the table of recipes in composition.cpp;
// the names in parentheses are what it sits on.
namespace ouro::testing_support {

// What a test must know to ask only for what a resource promises.
struct Traits {
    // Frees and changes its newest block only.
    bool newest_only = false;
    // Runs out after about as many bytes as it was built with, with capacity_exhausted.
    bool bounded = true;
    std::size_t max_size = ~std::size_t{0};
    std::size_t max_alignment = 4096;
    // Neither takes memory from the system nor gives any back under a seal.
    bool keeps_seal = true;
};

// One resource of a composition, of whatever type, at an address that does not change.
class Part {
public:
    virtual ~Part() = default;
    [[nodiscard]] virtual MemoryResource& resource() = 0;
    // Returns what nobody uses to where it came from, where the strategy does that when told to.
    virtual void give_back() {}
    // Frees everything at once, and says so, where the strategy can. Requires: nobody uses any of it.
    virtual bool start_over() { return false; }
};

// What a recipe builds on: how many bytes it is to serve, and the resources named in its parentheses.
struct Site {
    std::size_t bytes = 0;
    std::span<MemoryResource* const> upstreams;
};

using PartPointer = std::unique_ptr<Part>;

// How a strategy or decorator is built for tests.
struct Recipe {
    std::string_view name;
    PartPointer (*build)(const Site& site) = nullptr;
    // How many resources may stand in its parentheses; 0 is memory of its own.
    std::size_t least_upstreams = 0;
    std::size_t most_upstreams = 1;
    Traits traits = {};
    // Its blocks are those of its upstreams, so that their traits are its own too.
    bool passes_on = false;
    // The most that it asks of its upstream beyond what was asked of itself.
    std::size_t added_bytes = 0;
    // Has an entry of its own in the registry of blocks.
    bool listed = true;
    // Takes several blocks from its upstream and returns them in any order: not for a stack.
    bool many_blocks = false;
    // Asks of its upstream for other sizes than it was asked for: not on blocks of one size.
    bool other_sizes = false;
    // One of several links serves, so that the chain can do what the most able of them can.
    bool any_link_serves = false;
    // Not for each contract test, but for the campaigns.
    bool campaign_only = false;
    bool native_only = false;
};

// A part of the usual kind.
template <class Resource>
class Holder final : public Part {
public:
    template <class... Arguments>
    explicit Holder(Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

    [[nodiscard]] MemoryResource& resource() override { return value_; }
    void give_back() override {
        if constexpr (requires { value_.trim(); }) (void)value_.trim();
        if constexpr (requires { value_.purge(); }) (void)value_.purge();
    }
    bool start_over() override {
        if constexpr (requires { value_.reset(); }) {
            value_.reset();
            return true;
        }
        return false;
    }

private:
    Resource value_;
};

// Puts what a create function returned into a part; null when that failed.
template <class Resource>
[[nodiscard]] PartPointer hold(Expected<Resource> made) {
    if (!made) return nullptr;
    return std::make_unique<Holder<Resource>>(*std::move(made));
}

// The same for a resource that cannot fail to be made and does not move.
template <class Resource, class... Arguments>
[[nodiscard]] PartPointer hold_in_place(Arguments&&... arguments) {
    return std::make_unique<Holder<Resource>>(std::forward<Arguments>(arguments)...);
}

// A chain of resources that lives and dies together, the one on top first.
class Composition {
public:
    enum class WhenRefused : std::uint8_t { fail_the_test, stay_unbuilt };

    // Fails the test, if it is to, and leaves resource() unusable, when the text is no composition or a part
    // of it cannot be built.
    Composition(std::string_view text, std::size_t bytes,
                WhenRefused when_refused = WhenRefused::fail_the_test);
    ~Composition();
    Composition(Composition&&) = delete;
    Composition& operator=(Composition&&) = delete;

    // False when building failed.
    [[nodiscard]] bool is_built() const { return !parts_.empty(); }
    [[nodiscard]] MemoryResource& resource() { return parts_.back()->resource(); }
    [[nodiscard]] const Traits& traits() const { return traits_; }
    // Of each part, from the top down, so that what one returns the next may return as well.
    void give_back();
    // Of the part on top. Requires: nobody uses any of its blocks.
    bool start_over() { return parts_.back()->start_over(); }
    // The names under which its parts are in the registry of blocks.
    [[nodiscard]] const std::vector<std::string>& listed_names() const { return listed_names_; }
    // What a model may ask of it.
    [[nodiscard]] ResourceModel::Limits limits() const;

private:
    // Upstreams stand before those that sit on them.
    std::vector<PartPointer> parts_;
    Traits traits_;
    std::vector<std::string> listed_names_;
};

// Every recipe alone or on others, and the hand-picked chains: what each contract test runs with.
[[nodiscard]] std::vector<std::string> composition_table();
// The same with what is for campaigns only.
[[nodiscard]] std::vector<std::string> campaign_table();

enum class FreeOrder : std::uint8_t { any, may_be_newest_first };

// A composition of up to four levels; the same for the same seed, wherever there are the same recipes. With
// FreeOrder::any it takes blocks of all sizes; otherwise its limits() tell.
[[nodiscard]] std::string random_composition(std::uint64_t seed,
                                             FreeOrder order = FreeOrder::may_be_newest_first);

// The text as a test's name can hold it: "stack_on_frame".
[[nodiscard]] std::string composition_label(std::string_view text);

}  // namespace ouro::testing_support
