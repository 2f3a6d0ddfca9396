#pragma once

#include <ouro/streams/sim_vec.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

class SimStringRef;

// A text of any length whose characters lie in an ImageHeap. All zero is the empty one; it has no zero at its
// end. For short texts and for keys, FixedString is the simpler one.
class SimString {
public:
    using Bound = SimStringRef;

    [[nodiscard]] std::uint32_t size() const noexcept { return characters_.size(); }
    [[nodiscard]] bool is_empty() const noexcept { return characters_.is_empty(); }
    // In the image or in a whole copy of it.
    [[nodiscard]] std::string_view in(ConstOffsetBase base) const noexcept {
        const std::span<const char> all = characters_.in(base);
        return {all.data(), all.size()};
    }
    // The text of a past tick, in the memory given; out_of_range when it does not fit there.
    [[nodiscard]] Expected<std::string_view> read(const PastReader& past,
                                                  std::span<char> out) const noexcept {
        if (out.size() < size()) return Status::out_of_range;
        const Status status = characters_.read(past, 0, out.first(size()));
        if (status != Status::ok) return status;
        return std::string_view(out.data(), size());
    }
    // ok, or corrupt_data; as SimVec does.
    [[nodiscard]] Status check(ConstOffsetBase base) const noexcept { return characters_.check(base); }
    [[nodiscard]] Status check(const ImageHeap& heap) const noexcept { return characters_.check(heap); }

    // For owner_source().
    [[nodiscard]] bool find_owner(std::uint64_t offset, ImageOwner& owner) const noexcept {
        if (!characters_.find_owner(offset, owner)) return false;
        owner = {.kind = OwnerKind::text,
                 .name = {},
                 .offset = owner.offset - owner.number,
                 .bytes = characters_.capacity()};
        return true;
    }

private:
    friend class SimStringRef;

    SimVec<char> characters_;
};

template <>
inline constexpr bool kIsSimValue<SimString> = true;
static_assert(sizeof(SimString) == 12 && alignof(SimString) == 4 && SimKey<SimString>);

// Tells reports whether a text has a byte. Requires: the text lies in the image that is asked about.
[[nodiscard]] inline OwnerSource owner_source(std::string_view name, const SimString& text) noexcept {
    return {.name = name,
            .context = &text,
            .find = [](const void* context, ConstOffsetBase, std::uint64_t offset, ImageOwner& owner) {
                return static_cast<const SimString*>(context)->find_owner(offset, owner);
            }};
}

// The operations of a SimString in the image; see ImageHeap::bind. Those that fail do so as
// ImageHeap::allocate does, and leave the text as it was. What is assigned or appended may be a part of the
// text itself.
class SimStringRef {
public:
    SimStringRef(ImageHeap& heap, SimString& stored) noexcept : characters_(heap, stored.characters_) {}

    [[nodiscard]] std::uint32_t size() const noexcept { return characters_.size(); }
    [[nodiscard]] bool is_empty() const noexcept { return characters_.is_empty(); }
    // Until the next change.
    [[nodiscard]] std::string_view view() const noexcept { return {characters_.begin(), size()}; }
    operator std::string_view() const noexcept { return view(); }

    Status assign(std::string_view text) noexcept { return characters_.assign(text); }
    Status append(std::string_view text) noexcept { return characters_.append(text); }
    void clear() noexcept { characters_.clear(); }
    // Gives the memory back.
    void release() noexcept { characters_.release(); }

    friend bool operator==(const SimStringRef& a, std::string_view b) noexcept { return a.view() == b; }

private:
    SimVecRef<char> characters_;
};

}  // namespace ouro
