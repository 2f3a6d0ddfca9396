#include "environment.hpp"
#include "text_writer.hpp"

#include <ouro/memory/memory_config.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace ouro {
namespace {

enum class Kind : std::uint8_t { bytes, number, choice };

// One key. Every value is a number; of a choice it is the position of the word.
struct Setting {
    std::string_view key;
    std::string_view meaning;
    std::string_view allowed;
    Kind kind;
    std::uint64_t least;
    std::uint64_t most;
    std::array<std::string_view, 3> words;
    std::uint64_t (*get)(const MemoryConfig& config) noexcept;
    void (*set)(MemoryConfig& config, std::uint64_t value) noexcept;
};

template <auto kMember>
std::uint64_t get_member(const MemoryConfig& config) noexcept {
    return static_cast<std::uint64_t>(config.*kMember);
}
template <auto kMember>
void set_member(MemoryConfig& config, std::uint64_t value) noexcept {
    config.*kMember = static_cast<std::remove_reference_t<decltype(config.*kMember)>>(value);
}

template <auto kMember>
constexpr Setting make_number(std::string_view key, std::string_view meaning, std::string_view allowed,
                              Kind kind, std::uint64_t least, std::uint64_t most) {
    return {key, meaning, allowed, kind, least, most, {}, get_member<kMember>, set_member<kMember>};
}
template <auto kMember>
constexpr Setting make_choice(std::string_view key, std::string_view meaning, std::string_view allowed,
                              std::uint64_t most, std::array<std::string_view, 3> words) {
    return {key, meaning, allowed, Kind::choice, 0, most, words, get_member<kMember>, set_member<kMember>};
}

constexpr std::uint64_t kKibi = 1024;
constexpr std::uint64_t kMebi = kKibi * kKibi;
// The most a size can be on this platform, as far as texts go: larger ones do not fit the addresses.
constexpr std::uint64_t kMostBytes = sizeof(void*) == 8 ? std::uint64_t{1} << 47 : 0xFFFF'FFFF;

constexpr std::array kSettings = {
    make_number<&MemoryConfig::heap_max_bytes>("heap_max_bytes", "the most that the heap can become",
                                               "a size from 1M", Kind::bytes, kMebi, kMostBytes),
    make_number<&MemoryConfig::purge_threshold_bytes>(
        "purge_threshold_bytes", "free memory that the heap keeps beyond what is or was lately in use",
        "a size from 0 to 64G", Kind::bytes, 0, std::min<std::uint64_t>(64 * 1024 * kMebi, kMostBytes)),
    make_number<&MemoryConfig::largest_small_bytes>(
        "largest_small_bytes", "up to this blocks come from size classes, above they take units of 64K",
        "a size from 1K to 64K", Kind::bytes, kKibi, 64 * kKibi),
    make_number<&MemoryConfig::heap_huge_pages_from_bytes>(
        "heap_huge_pages_from_bytes", "huge pages are asked for what the heap takes beyond this",
        "a size; heap_max_bytes or more for not to ask", Kind::bytes, 0, kMostBytes),
    make_number<&MemoryConfig::system_cache_bytes>("system_cache_bytes",
                                                   "free ranges kept for large requests",
                                                   "a size from 0 to 1G", Kind::bytes, 0, 1024 * kMebi),
    make_number<&MemoryConfig::budget_bytes>("budget_bytes",
                                             "bound on all tagged memory together, 0 for none",
                                             "0, or a size from 1M", Kind::bytes, 0, kMostBytes),
    make_choice<&MemoryConfig::numa>("numa", "which memory node serves a thread", "off or local", 1,
                                     {"off", "local", {}}),
    make_number<&MemoryConfig::guard_sampling>(
        "guard_sampling", "one in so many allocations gets guard pages, 0 for none",
        "a number from 0 to 1000000000", Kind::number, 0, 1'000'000'000),
    make_number<&MemoryConfig::profile_sampling_bytes>(
        "profile_sampling_bytes", "allocated bytes between two samples of the profiler, 0 for none",
        "a size from 0 to 1024G", Kind::bytes, 0, std::min<std::uint64_t>(1024 * 1024 * kMebi, kMostBytes)),
    make_choice<&MemoryConfig::huge_pages>("huge_pages", "pages of large arenas",
                                           "off, transparent or reserved", 2,
                                           {"off", "transparent", "reserved"}),
};

const Setting* find_setting(std::string_view key) noexcept {
    for (const Setting& setting : kSettings) {
        if (setting.key == key) return &setting;
    }
    return nullptr;
}

Expected<void> tell(ConfigProblem* problem, const ConfigProblem& found) noexcept {
    if (problem != nullptr) *problem = found;
    return found.status;
}

bool is_in_range(const Setting& setting, std::uint64_t value) noexcept {
    return value >= setting.least && value <= setting.most;
}

std::optional<std::uint64_t> read_choice(const Setting& setting, std::string_view text) noexcept {
    for (std::uint64_t i = 0; i <= setting.most; ++i) {
        if (setting.words[static_cast<std::size_t>(i)] == text) return i;
    }
    return std::nullopt;
}

std::uint64_t unit_of(char letter) noexcept {
    switch (letter) {
        case 'k':
        case 'K':
            return kKibi;
        case 'm':
        case 'M':
            return kMebi;
        case 'g':
        case 'G':
            return kMebi * kKibi;
        default:
            return 0;
    }
}

// A number that does not fit the word reads as the largest there is, which no key allows.
std::optional<std::uint64_t> read_number(std::string_view text, bool with_unit) noexcept {
    std::uint64_t unit = 1;
    if (with_unit && !text.empty() && unit_of(text.back()) != 0) {
        unit = unit_of(text.back());
        text.remove_suffix(1);
    }
    if (text.empty()) return std::nullopt;
    std::uint64_t value = 0;
    bool overflow = false;
    for (const char digit : text) {
        if (digit < '0' || digit > '9') return std::nullopt;
        overflow |= __builtin_mul_overflow(value, std::uint64_t{10}, &value);
        overflow |= __builtin_add_overflow(value, static_cast<std::uint64_t>(digit - '0'), &value);
    }
    overflow |= __builtin_mul_overflow(value, unit, &value);
    return overflow ? ~std::uint64_t{0} : value;
}

// Takes the next word off the front of the text; empty at its end.
std::string_view next_word(std::string_view& text) noexcept {
    constexpr std::string_view kBetween = " \t\r\n,;";
    while (!text.empty()) {
        if (text.front() == '#') {
            text.remove_prefix(std::min(text.find('\n'), text.size()));
        } else if (kBetween.find(text.front()) != std::string_view::npos) {
            text.remove_prefix(1);
        } else {
            const std::size_t length = std::min(text.find_first_of(" \t\r\n,;#"), text.size());
            const std::string_view word(text.data(), length);
            text.remove_prefix(length);
            return word;
        }
    }
    return {};
}

Expected<void> apply(std::string_view word, MemoryConfig& config, ConfigProblem* problem) noexcept {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view key(word.data(), equals);
    const bool has_value = equals < word.size();
    const std::string_view value =
        has_value ? std::string_view(word.data() + equals + 1, word.size() - equals - 1) : std::string_view();
    const Setting* setting = find_setting(key);
    if (setting == nullptr) return tell(problem, {Status::not_found, key, value, {}});
    const auto read = setting->kind == Kind::choice ? read_choice(*setting, value)
                                                    : read_number(value, setting->kind == Kind::bytes);
    if (!read) return tell(problem, {Status::bad_argument, setting->key, value, setting->allowed});
    if (!is_in_range(*setting, *read))
        return tell(problem, {Status::out_of_range, setting->key, value, setting->allowed});
    setting->set(config, *read);
    return {};
}

void add_value(detail::TextWriter& writer, const Setting& setting, const MemoryConfig& config) noexcept {
    const std::uint64_t value = setting.get(config);
    if (setting.kind == Kind::bytes) {
        writer.add_bytes(value);
    } else if (setting.kind == Kind::number) {
        writer.add(value);
    } else {
        writer.add(value <= setting.most ? setting.words[static_cast<std::size_t>(value)] : "?");
    }
}

}  // namespace

Expected<void> validate(const MemoryConfig& config, ConfigProblem* problem) noexcept {
    for (const Setting& setting : kSettings) {
        if (!is_in_range(setting, setting.get(config)))
            return tell(problem, {Status::out_of_range, setting.key, {}, setting.allowed});
    }
    if (config.budget_bytes != 0 && config.budget_bytes < kMebi)
        return tell(problem,
                    {Status::out_of_range, "budget_bytes", {}, find_setting("budget_bytes")->allowed});
    if (config.budget_bytes != 0 && config.system_cache_bytes > config.budget_bytes)
        return tell(problem, {Status::out_of_range, "system_cache_bytes", {}, "at most budget_bytes"});
    return {};
}

Expected<void> parse_config(std::string_view text, MemoryConfig& config, ConfigProblem* problem) noexcept {
    MemoryConfig parsed = config;
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
        const auto applied = apply(word, parsed, problem);
        if (!applied) return applied;
    }
    const auto valid = validate(parsed, problem);
    if (valid) config = parsed;
    return valid;
}

Expected<void> read_config_from_environment(MemoryConfig& config, ConfigProblem* problem,
                                            const char* variable) noexcept {
    const char* text = detail::environment_value(variable);
    if (text == nullptr) return {};
    return parse_config(text, config, problem);
}

std::size_t describe_config(const MemoryConfig& config, std::span<char> text) noexcept {
    detail::TextWriter writer(text);
    for (const Setting& setting : kSettings) {
        writer.add(setting.key).add("=");
        add_value(writer, setting, config);
        writer.add("  # ").add(setting.meaning).add("; ").add(setting.allowed).add("\n");
    }
    return writer.length();
}

std::size_t describe_problem(const ConfigProblem& problem, std::span<char> text) noexcept {
    detail::TextWriter writer(text);
    if (problem.status == Status::not_found) {
        writer.add("there is no setting '").add(problem.key).add("'; there are");
        for (const Setting& setting : kSettings)
            writer.add(&setting == &kSettings.front() ? " " : ", ").add(setting.key);
        return writer.length();
    }
    if (problem.status == Status::ok) return writer.length();
    writer.add(problem.key);
    if (!problem.value.empty()) writer.add(" cannot be '").add(problem.value).add("'");
    writer.add(problem.value.empty() ? " must be " : "; it must be ").add(problem.allowed);
    return writer.length();
}

}  // namespace ouro
