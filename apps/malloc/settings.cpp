#include "settings.hpp"

#include "text_output.hpp"

#include <cstdlib>
#include <cstring>

namespace ouro::process_heap {
namespace {

constexpr const char* kVariable = "OUROBOROS_MALLOC";
constinit Settings g_settings;

constexpr const char* kHelp =
    "OUROBOROS_MALLOC: words separated by commas\n"
    "  help             this text\n"
    "  stats            a report to standard error when the program ends\n"
    "  purge=<size>     keep at most this much free memory, beyond as much as is in use (32M);\n"
    "                   a number with K, M or G, or 0 to return all of it at once\n";

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
    // So many digits cannot overflow with any scale.
    constexpr std::size_t kMostDigits = 9;
    if (word.length == 0 || word.length > kMostDigits) return false;
    std::size_t value = 0;
    for (std::size_t index = 0; index < word.length; ++index) {
        if (word.begin[index] < '0' || word.begin[index] > '9') return false;
        value = value * 10 + static_cast<std::size_t>(word.begin[index] - '0');
    }
    size = value * scale;
    return true;
}

bool apply(Word word) noexcept {
    if (word.is("help")) {
        write_error(kHelp);
    } else if (word.is("stats")) {
        g_settings.statistics_at_exit = true;
    } else if (word.starts_with("purge=")) {
        return read_size(word.after("purge="), g_settings.purge_bytes);
    } else {
        return false;
    }
    return true;
}

}  // namespace

const Settings& settings() noexcept {
    return g_settings;
}

void read_settings() noexcept {
    const char* rest = std::getenv(kVariable);
    while (rest != nullptr && *rest != '\0') {
        const Word word{rest, std::strcspn(rest, ",")};
        if (word.length != 0 && !apply(word)) {
            write_error("OUROBOROS_MALLOC: cannot understand '");
            write_error(word.begin, word.length);
            write_error("'; OUROBOROS_MALLOC=help lists the words\n");
        }
        rest += word.length + (rest[word.length] == ',' ? 1U : 0U);
    }
}

}  // namespace ouro::process_heap
