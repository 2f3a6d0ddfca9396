#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/ecs/detail/type_number.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ouro::detail {

// Types by the numbers that the process knows them by: the same for every world.
class TypeSet {
public:
    static constexpr std::size_t kMaxTypes = ComponentFamily::kLimit;

    template <class T>
    void add() noexcept {
        const std::uint32_t number = type_number<T>();
        words_[number / 64] |= std::uint64_t{1} << (number % 64);
    }
    [[nodiscard]] bool has(std::uint32_t number) const noexcept {
        return number < kMaxTypes && (words_[number / 64] >> (number % 64) & 1) != 0;
    }
    // Calls with each number until visit returns false; whether it never did.
    template <class Visit>
    bool each(Visit&& visit) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            for (std::uint64_t word = words_[i]; word != 0; word &= word - 1)
                if (!visit(static_cast<std::uint32_t>(i * 64) +
                           static_cast<std::uint32_t>(std::countr_zero(word))))
                    return false;
        return true;
    }
    [[nodiscard]] bool meets(const TypeSet& other) const noexcept {
        for (std::size_t i = 0; i < words_.size(); ++i)
            if ((words_[i] & other.words_[i]) != 0) return true;
        return false;
    }
    [[nodiscard]] bool has_all(const TypeSet& other) const noexcept {
        for (std::size_t i = 0; i < words_.size(); ++i)
            if ((other.words_[i] & ~words_[i]) != 0) return false;
        return true;
    }

private:
    std::array<std::uint64_t, kMaxTypes / 64> words_{};
};

// What one parameter reads and writes, and of which entities.
struct Access {
    TypeSet reads;
    TypeSet writes;
    // Entities that have all of these and none of those.
    TypeSet required;
    TypeSet excluded;
    // Visits entities, and can look them up by name; a resource does neither.
    bool has_entities = false;
};

// What all parameters of a system do.
class SystemAccess {
public:
    static constexpr std::size_t kMaxAccesses = 10;

    void add(const Access& access) noexcept {
        OURO_ASSERT(count_ < kMaxAccesses, "a system has ten queries and resources at most");
        accesses_[count_++] = access;
    }
    [[nodiscard]] std::span<const Access> accesses() const noexcept { return {accesses_.data(), count_}; }

    // Has the world for itself.
    bool is_exclusive = false;
    // Makes structural changes.
    bool changes_structure = false;
    bool records_commands = false;

private:
    std::array<Access, kMaxAccesses> accesses_{};
    std::size_t count_ = 0;
};

// Whether the two may not run at once.
[[nodiscard]] bool do_conflict(const SystemAccess& one, const SystemAccess& other) noexcept;

}  // namespace ouro::detail
