#pragma once

#include <ouro/base/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

// Names for what memory is used for: "game", below it "creatures", below that "memories". A tag is a small
// number; its name and parent stand in one table of the process, which only grows. Reading it takes no lock.
namespace ouro {

class Tag {
public:
    // Untagged.
    constexpr Tag() noexcept = default;

    [[nodiscard]] static constexpr Tag from_id(std::uint16_t id) noexcept {
        Tag tag;
        tag.id_ = id;
        return tag;
    }
    [[nodiscard]] constexpr std::uint16_t id() const noexcept { return id_; }
    [[nodiscard]] constexpr bool is_untagged() const noexcept { return id_ == 0; }

    friend constexpr bool operator==(Tag, Tag) noexcept = default;

private:
    std::uint16_t id_ = 0;
};

// How many tags there can be, the untagged one among them.
inline constexpr std::size_t kMaxTags = 1024;
inline constexpr std::size_t kMaxTagNameBytes = 48;

// The tag of this name below the parent; a new one when there is none yet. The name is copied. From any
// thread. Fails with bad_argument (no name, one longer than kMaxTagNameBytes, a parent that is not
// registered, or a name that is already in use below another parent) or capacity_exhausted.
[[nodiscard]] Expected<Tag> register_tag(std::string_view name, Tag parent = {}) noexcept;

// not_found when nobody registered it.
[[nodiscard]] Expected<Tag> find_tag(std::string_view name) noexcept;

// The tag itself; in place of the untagged one, the tag of this name, registered at the top when there is
// none yet. Untagged when that fails. For parts of the engine whose user named no tag.
[[nodiscard]] Tag tag_or(Tag tag, std::string_view name) noexcept;

// Tags have the ids 0 (untagged) to tag_count() - 1, and a parent's is smaller than its children's: a loop
// over the ids lists all of them, parents first.
[[nodiscard]] std::size_t tag_count() noexcept;

// "untagged" for the untagged one and for ids that nobody registered. Ends with a zero, and is valid as long
// as the process.
[[nodiscard]] std::string_view tag_name(Tag tag) noexcept;

// Untagged for a tag without a parent.
[[nodiscard]] Tag tag_parent(Tag tag) noexcept;

// True for the tag itself, its children and theirs. Everything is within untagged.
[[nodiscard]] bool is_tag_within(Tag tag, Tag ancestor) noexcept;

}  // namespace ouro
