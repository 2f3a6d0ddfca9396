// The functions that the compiler calls on its own, and their neighbours. Compiled with -fno-builtin: a loop
// that looks like memcmp must not become a call to memcmp.
#include <cstddef>
#include <cstdint>

extern "C" {

// The two intrinsics compile to the instructions memory.copy and memory.fill.
void* memcpy(void* to, const void* from, std::size_t bytes) {
    return __builtin_memcpy(to, from, bytes);
}

void* memmove(void* to, const void* from, std::size_t bytes) {
    return __builtin_memmove(to, from, bytes);
}

void* memset(void* to, int value, std::size_t bytes) {
    return __builtin_memset(to, value, bytes);
}

int memcmp(const void* left, const void* right, std::size_t bytes) {
    const auto* a = static_cast<const unsigned char*>(left);
    const auto* b = static_cast<const unsigned char*>(right);
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t)) {
        std::uint64_t x;
        std::uint64_t y;
        __builtin_memcpy(&x, a + at, sizeof x);
        __builtin_memcpy(&y, b + at, sizeof y);
        if (x != y) break;
    }
    for (; at < bytes; ++at) {
        if (a[at] != b[at]) return a[at] < b[at] ? -1 : 1;
    }
    return 0;
}

void* memchr(const void* in, int value, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(in);
    const auto wanted = static_cast<unsigned char>(value);
    for (std::size_t i = 0; i < bytes; ++i) {
        if (at[i] == wanted) return const_cast<unsigned char*>(at + i);
    }
    return nullptr;
}

std::size_t strlen(const char* text) {
    std::size_t length = 0;
    while (text[length] != '\0')
        ++length;
    return length;
}

int strncmp(const char* left, const char* right, std::size_t limit) {
    for (std::size_t i = 0; i < limit; ++i) {
        const auto a = static_cast<unsigned char>(left[i]);
        const auto b = static_cast<unsigned char>(right[i]);
        if (a != b) return a < b ? -1 : 1;
        if (a == 0) break;
    }
    return 0;
}

int strcmp(const char* left, const char* right) {
    return strncmp(left, right, SIZE_MAX);
}

char* strchr(const char* text, int value) {
    const auto wanted = static_cast<char>(value);
    for (;; ++text) {
        if (*text == wanted) return const_cast<char*>(text);
        if (*text == '\0') return nullptr;
    }
}

char* strstr(const char* text, const char* part) {
    const std::size_t length = strlen(part);
    for (;; ++text) {
        if (strncmp(text, part, length) == 0) return const_cast<char*>(text);
        if (*text == '\0') return nullptr;
    }
}

}  // extern "C"
