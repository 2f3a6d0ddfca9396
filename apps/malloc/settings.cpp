#include "settings.hpp"

#include "text_output.hpp"

#include <ouro/memory/detail/heap_core.hpp>

#include <cstdlib>
#include <cstring>

#include <signal.h>

namespace ouro::process_heap {
namespace {

constexpr const char* kVariable = "OUROBOROS_MALLOC";
constinit Settings g_settings;

constexpr const char* kHelp =
    "OUROBOROS_MALLOC: words separated by commas\n"
    "  help                 this text, once: the program runs on, and its children do not repeat it\n"
    "  stats                a report to standard error when the program ends; stats=json for programs\n"
    "  stats_signal=<name>  the same whenever the process gets the signal: USR1 or USR2\n"
    "  purge=<size>         keep at most this much free memory, beyond what is or was lately in use (32M);\n"
    "                       a number with K, M or G, or 0 to return all of it at once\n"
    "  huge=<size>          ask for huge pages for what is taken beyond this (off), as huge=16M\n"
    "  idle=<ms>            return memory that stayed free for so many milliseconds (1000), or 0: never\n"
    "  background=<0|1>     1: a thread of the library returns it even while the program does nothing (0)\n"
    "  guard=<n>            guard about one of n allocations: what is done to it wrongly stops the program,\n"
    "                       with a report (0: none)\n"
    "  guard_slots=<n>      at most so many guarded blocks at once (1024), up to 16384; a page or more "
    "each\n"
    "  profile=<file>       sample allocations with their call stacks, and write them there at the end;\n"
    "                       %p is the process's number, which is added where one that this process has\n"
    "                       started came first. For ouro report; for pprof when the name ends with .pb,\n"
    "                       and stacks as text for flame graphs when it ends with .folded\n"
    "  profile_bytes=<size> the mean distance of two samples (512K)\n"
    "  profile_signal=<name> sample from the signal on, USR1 or USR2; from each further one, growth begins\n"
    "                       anew. Goes without profile=<file> too, for ouro report <process>\n";

// The words are cut out of the variable by position: there is no heap to copy them to yet.
struct Word {
    const char* begin = nullptr;
    std::size_t length = 0;

    [[nodiscard]] bool is(const char* text) const noexcept {
        return std::strlen(text) == length && std::strncmp(begin, text, length) == 0;
    }
    [[nodiscard]] bool starts_with(const char* text) const noexcept {
        return std::strlen(text) <= length && std::strncmp(begin, text, std::strlen(text)) == 0;
    }
    [[nodiscard]] Word after(const char* text) const noexcept {
        return {begin + std::strlen(text), length - std::strlen(text)};
    }
};

bool read_number(Word word, std::size_t& number) noexcept {
    // So many digits overflow with no scale.
    constexpr std::size_t kMostDigits = 9;
    if (word.length == 0 || word.length > kMostDigits) return false;
    std::size_t value = 0;
    for (std::size_t index = 0; index < word.length; ++index) {
        if (word.begin[index] < '0' || word.begin[index] > '9') return false;
        value = value * 10 + static_cast<std::size_t>(word.begin[index] - '0');
    }
    number = value;
    return true;
}

std::size_t scale_of(char unit) noexcept {
    switch (unit) {
        case 'K':
            return std::size_t{1} << 10;
        case 'M':
            return std::size_t{1} << 20;
        case 'G':
            return std::size_t{1} << 30;
        default:
            return 0;
    }
}

bool read_size(Word word, std::size_t& size) noexcept {
    std::size_t scale = 1;
    if (word.length != 0 && scale_of(word.begin[word.length - 1]) != 0)
        scale = scale_of(word.begin[--word.length]);
    std::size_t value = 0;
    if (!read_number(word, value)) return false;
    size = value * scale;
    return true;
}

bool read_huge(Word word, std::size_t& from_bytes) noexcept {
    if (!word.is("off")) return read_size(word, from_bytes);
    from_bytes = detail::HeapCore::kNoHugePages;
    return true;
}

bool read_switch(Word word, bool& value) noexcept {
    if (!word.is("0") && !word.is("1")) return false;
    value = word.is("1");
    return true;
}

bool read_slots(Word word, std::size_t& slots) noexcept {
    // Each takes two mappings, of which a process has 65530 unless its system says otherwise.
    constexpr std::size_t kMostSlots = 16384;
    std::size_t value = 0;
    if (!read_number(word, value) || value == 0 || value > kMostSlots) return false;
    slots = value;
    return true;
}

// A mean of zero has no meaning, and far above it nothing would be sampled.
bool read_mean(Word word, std::size_t& bytes) noexcept {
    std::size_t value = 0;
    if (!read_size(word, value) || value == 0 || value > std::size_t{1} << 32) return false;
    bytes = value;
    return true;
}

bool read_file_name(Word word, char* name) noexcept {
    if (word.length == 0 || word.length > kMostProfileName) return false;
    std::memcpy(name, word.begin, word.length);
    name[word.length] = '\0';
    return true;
}

bool read_signal(Word word, int& number) noexcept {
    if (!word.is("USR1") && !word.is("USR2")) return false;
    number = word.is("USR1") ? SIGUSR1 : SIGUSR2;
    return true;
}

bool apply(Word word, Settings& result) noexcept {
    if (word.is("help")) {
        write_error(kHelp);
        return true;
    }
    if (word.is("stats") || word.is("stats=text") || word.is("stats=json")) {
        result.report_at_exit = word.is("stats=json") ? ReportFormat::json : ReportFormat::text;
        return true;
    }
    if (word.starts_with("stats_signal="))
        return read_signal(word.after("stats_signal="), result.report_signal);
    if (word.starts_with("purge=")) return read_size(word.after("purge="), result.purge_bytes);
    if (word.starts_with("huge=")) return read_huge(word.after("huge="), result.huge_from_bytes);
    if (word.starts_with("idle=")) return read_number(word.after("idle="), result.idle_ms);
    if (word.starts_with("guard=")) return read_number(word.after("guard="), result.guard_every);
    if (word.starts_with("guard_slots=")) return read_slots(word.after("guard_slots="), result.guard_slots);
    if (word.starts_with("profile=")) return read_file_name(word.after("profile="), result.profile_file);
    if (word.starts_with("profile_bytes="))
        return read_mean(word.after("profile_bytes="), result.profile_bytes);
    if (word.starts_with("profile_signal="))
        return read_signal(word.after("profile_signal="), result.profile_signal);
    if (word.starts_with("background=")) return read_switch(word.after("background="), result.background);
    return false;
}

void complain(Word word) noexcept {
    write_error("OUROBOROS_MALLOC: cannot understand '");
    write_error(word.begin, word.length);
    write_error("'; OUROBOROS_MALLOC=help lists the words\n");
}

}  // namespace

const Settings& settings() noexcept {
    return g_settings;
}

bool apply_settings(const char* words, Settings& result) noexcept {
    bool is_understood = true;
    for (const char* rest = words; *rest != '\0';) {
        const Word word{rest, std::strcspn(rest, ",")};
        if (word.length != 0 && !apply(word, result)) {
            complain(word);
            is_understood = false;
        }
        rest += word.length + (rest[word.length] == ',' ? 1U : 0U);
    }
    return is_understood;
}

void forget_help(char* words) noexcept {
    for (char* rest = words; *rest != '\0';) {
        const Word word{rest, std::strcspn(rest, ",")};
        if (word.is("help")) std::memset(rest, ',', word.length);
        rest += word.length + (rest[word.length] == ',' ? 1U : 0U);
    }
}

void read_settings() noexcept {
    // A program with more rights than its caller does not listen to the caller's variables.
    char* const words = ::secure_getenv(kVariable);
    if (words == nullptr) return;
    apply_settings(words, g_settings);
    forget_help(words);
}

}  // namespace ouro::process_heap
