#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// What can be chosen about memory: a little when compiling, because it changes code or layouts, and the rest
// when a program starts. The switches of the build are options of CMake with the same names;
// kDefaultAlignment is one of them, the tiers of hardening are another.
namespace ouro {

#ifndef OURO_HUGE_PAGES
#    define OURO_HUGE_PAGES 0
#endif

// Whether a MemoryConfig asks for huge pages, transparent ones, when nothing else is said.
inline constexpr bool kHugePagesByDefault = OURO_HUGE_PAGES != 0;

enum class NumaPolicy : std::uint8_t {
    // The system decides.
    off,
    // What a thread places for itself comes from the node that it runs on; see place_for_this_thread.
    local,
};

enum class HugePagePolicy : std::uint8_t {
    off,
    // Ask the system to use huge pages where it likes.
    transparent,
    // From the system's reserved pool first.
    reserved,
};

// Read once at the start, and given to what is created then by the functions of memory_options.hpp.
struct MemoryConfig {
    // The most that the heap of small objects can become.
    std::size_t heap_max_bytes = sizeof(void*) == 8 ? std::size_t{16} << 30 : std::size_t{64} << 20;
    // Free memory above this goes back to the system at once, but for as much as is in use, or was lately.
    std::size_t purge_threshold_bytes = std::size_t{64} << 20;
    // Blocks up to this come from size classes of the heap of small objects; larger ones take units of their
    // own. Where the classes themselves lie is known when compiling, so that finding one costs little.
    std::size_t largest_small_bytes = std::size_t{64} << 10;
    // For what the heap of small objects takes beyond this the system is asked for huge pages; heap_max_bytes
    // or more for not to ask.
    std::size_t heap_huge_pages_from_bytes =
        sizeof(void*) == 8 ? static_cast<std::size_t>(std::uint64_t{1} << 46) : ~std::size_t{0};
    // How much freed memory a SystemAllocator keeps for the next requests.
    std::size_t system_cache_bytes = std::size_t{16} << 20;
    // What all tagged memory together may use; 0 for no bound.
    std::size_t budget_bytes = 0;
    NumaPolicy numa = NumaPolicy::off;
    // One in so many allocations gets guard pages; 0 for none.
    std::uint32_t guard_sampling = 0;
    // The profiler of the module observe takes a sample in so many allocated bytes, in the mean; 0 for no
    // profiler. See start_configured_profiler.
    std::size_t profile_sampling_bytes = 0;
    HugePagePolicy huge_pages = kHugePagesByDefault ? HugePagePolicy::transparent : HugePagePolicy::off;

    friend bool operator==(const MemoryConfig&, const MemoryConfig&) noexcept = default;
};

// What was wrong with a configuration. The texts point into what was parsed, or are constants.
struct ConfigProblem {
    // not_found: no such key. bad_argument: no value, or one that is not of the key's kind. out_of_range: the
    // value is too small or too large, by itself or beside another.
    Status status = Status::ok;
    std::string_view key;
    std::string_view value;
    // What would be right, in words; empty for an unknown key.
    std::string_view allowed;
};

// All values within their bounds and fitting each other; else out_of_range, and the first that does not.
Expected<void> validate(const MemoryConfig& config, ConfigProblem* problem = nullptr) noexcept;

// Reads "key=value" words, separated by blanks, commas, semicolons or new lines; from a # to the end of its
// line is a comment. Sizes may end in K, M or G. Keys that are not named keep their values. When anything is
// wrong, the configuration is as it was. Fails with the statuses of ConfigProblem.
Expected<void> parse_config(std::string_view text, MemoryConfig& config,
                            ConfigProblem* problem = nullptr) noexcept;

inline constexpr const char* kConfigVariable = "OURO_MEMORY";

// The same from an environment variable; without it nothing changes. Platforms without an environment have
// none set.
Expected<void> read_config_from_environment(MemoryConfig& config, ConfigProblem* problem = nullptr,
                                            const char* variable = kConfigVariable) noexcept;

// For people, into the caller's memory, cut where it does not fit and ended by a zero. Returns how long the
// whole text is.
//
// One line a key: the value in this configuration, what it means and what is allowed.
std::size_t describe_config(const MemoryConfig& config, std::span<char> text) noexcept;
// One sentence that names the key, the value and what is allowed.
std::size_t describe_problem(const ConfigProblem& problem, std::span<char> text) noexcept;

}  // namespace ouro
