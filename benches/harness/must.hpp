#pragma once

#include <ouro/base/expected.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace ouro::bench {

[[noreturn]] inline void give_up(const char* what, std::string_view reason) {
    const std::string text = std::string(what) + ": " + std::string(reason);
#ifdef __cpp_exceptions
    throw std::runtime_error(text);
#else
    std::fprintf(stderr, "%s\n", text.c_str());
    std::abort();
#endif
}

// The value, or an end of the run that says what did not work: a benchmark cannot go on without it.
template <class T>
T must(Expected<T> result, const char* what) {
    if (!result) give_up(what, status_text(result.status()));
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// The same for calls that answer zero, or anything but -1, and set errno.
inline void must(bool succeeded, const char* what) {
    if (!succeeded) give_up(what, "the system call failed");
}

}  // namespace ouro::bench
