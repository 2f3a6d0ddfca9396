// printf and its relatives for test programs: flags - 0 + and space, width, precision, the length modifiers
// and the conversions d i u x X o c s p f e g %. Anything else ends the program rather than printing
// nonsense.
#include "abort.hpp"
#include "decimal.hpp"
#include "host.hpp"

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

struct Sink {
    char* out;
    std::size_t capacity;
    std::size_t length = 0;

    void put(char c) {
        if (length < capacity) out[length] = c;
        ++length;
    }
};

struct Spec {
    bool left = false;
    bool zero = false;
    char sign = '\0';
    int width = 0;
    int precision = -1;
    int long_count = 0;  // l and ll; size_t and ptrdiff_t have the size of long
};

void emit(Sink* sink, const Spec& spec, const char* body, std::size_t bytes, std::size_t sign_bytes) {
    std::size_t padding = 0;
    if (spec.width > 0 && static_cast<std::size_t>(spec.width) > bytes) {
        padding = static_cast<std::size_t>(spec.width) - bytes;
    }
    std::size_t at = 0;
    if (!spec.left && spec.zero) {
        for (; at < sign_bytes; ++at)
            sink->put(body[at]);
    }
    for (std::size_t i = 0; !spec.left && i < padding; ++i)
        sink->put(spec.zero ? '0' : ' ');
    for (; at < bytes; ++at)
        sink->put(body[at]);
    for (std::size_t i = 0; spec.left && i < padding; ++i)
        sink->put(' ');
}

void emit_integer(Sink* sink, Spec spec, std::uint64_t value, bool negative, unsigned base, bool upper) {
    char text[96];
    char* const end = text + sizeof text;
    char* at = end;
    const char* const alphabet = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    for (; value != 0; value /= base)
        *--at = alphabet[value % base];
    int least = spec.precision < 0 ? 1 : spec.precision;
    if (least > 64) least = 64;
    while (end - at < least)
        *--at = '0';
    const bool has_sign = negative || spec.sign != '\0';
    if (has_sign) *--at = negative ? '-' : spec.sign;
    if (spec.precision >= 0) spec.zero = false;
    emit(sink, spec, at, static_cast<std::size_t>(end - at), has_sign ? 1 : 0);
}

void emit_double(Sink* sink, const Spec& spec, double value, char style) {
    char text[ouro::wasm::Decimal::kMaxDigits + 64];
    std::size_t bytes = 0;
    if (spec.sign != '\0' && !__builtin_signbit(value)) text[bytes++] = spec.sign;
    bytes += ouro::wasm::format_double(value, style, spec.precision < 0 ? 6 : spec.precision, text + bytes);
    emit(sink, spec, text, bytes, text[0] < '0' ? 1 : 0);
}

void emit_text(Sink* sink, Spec spec, const char* text) {
    if (text == nullptr) text = "(null)";
    std::size_t bytes = 0;
    while ((spec.precision < 0 || bytes < static_cast<std::size_t>(spec.precision)) && text[bytes] != '\0')
        ++bytes;
    spec.zero = false;
    emit(sink, spec, text, bytes, 0);
}

int read_number(const char** at, std::va_list* arguments) {
    if (**at == '*') {
        ++*at;
        return va_arg(*arguments, int);
    }
    int number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + (**at - '0');
    return number;
}

Spec read_spec(const char** at, std::va_list* arguments) {
    Spec spec;
    for (;; ++*at) {
        if (**at == '-')
            spec.left = true;
        else if (**at == '0')
            spec.zero = true;
        else if (**at == '+' || **at == ' ')
            spec.sign = **at;
        else
            break;
    }
    spec.width = read_number(at, arguments);
    if (spec.width < 0) {
        spec.left = true;
        spec.width = -spec.width;
    }
    if (**at == '.') {
        ++*at;
        spec.precision = read_number(at, arguments);
    }
    for (; **at == 'l' || **at == 'h' || **at == 'z' || **at == 't' || **at == 'j'; ++*at) {
        if (**at == 'j') spec.long_count = 2;
        if (**at == 'l') ++spec.long_count;
    }
    return spec;
}

std::int64_t read_signed(const Spec& spec, std::va_list* arguments) {
    return spec.long_count > 1 ? va_arg(*arguments, std::int64_t) : va_arg(*arguments, std::int32_t);
}

std::uint64_t read_unsigned(const Spec& spec, std::va_list* arguments) {
    return spec.long_count > 1 ? va_arg(*arguments, std::uint64_t) : va_arg(*arguments, std::uint32_t);
}

void convert(Sink* sink, Spec spec, char kind, std::va_list* arguments) {
    switch (kind) {
        case 'd':
        case 'i': {
            const std::int64_t value = read_signed(spec, arguments);
            const auto bits = static_cast<std::uint64_t>(value);
            emit_integer(sink, spec, value < 0 ? 0 - bits : bits, value < 0, 10, false);
            return;
        }
        case 'u':
        case 'o':
        case 'x':
        case 'X': {
            spec.sign = '\0';
            const unsigned base = kind == 'u' ? 10 : kind == 'o' ? 8 : 16;
            emit_integer(sink, spec, read_unsigned(spec, arguments), false, base, kind == 'X');
            return;
        }
        case 'p':
            sink->put('0');
            sink->put('x');
            emit_integer(sink, Spec{}, reinterpret_cast<std::uintptr_t>(va_arg(*arguments, void*)), false, 16,
                         false);
            return;
        case 'c': {
            const char c = static_cast<char>(va_arg(*arguments, int));
            emit(sink, spec, &c, 1, 0);
            return;
        }
        case 's':
            emit_text(sink, spec, va_arg(*arguments, const char*));
            return;
        case 'f':
        case 'e':
        case 'g':
            emit_double(sink, spec, va_arg(*arguments, double), kind);
            return;
        default:
            ouro::wasm::abort_with(
                "printf: a conversion that tools/wasm/test_support/stdio.cpp does not know");
    }
}

void format_all(Sink* sink, const char* format, std::va_list* arguments) {
    for (; *format != '\0'; ++format) {
        if (*format != '%') {
            sink->put(*format);
        } else if (*++format == '%') {
            sink->put('%');
        } else {
            const Spec spec = read_spec(&format, arguments);
            convert(sink, spec, *format, arguments);
        }
    }
}

int print_to(int fd, const char* format, std::va_list arguments) {
    char text[4096];
    const int length = std::vsnprintf(text, sizeof text, format, arguments);
    if (static_cast<std::size_t>(length) >= sizeof text) {
        ouro::wasm::abort_with("printf: the line is longer than the buffer of stdio.cpp");
    }
    ouro::wasm_host::write(fd, text, static_cast<std::size_t>(length));
    return length;
}

}  // namespace

extern "C" {

// The streams are names for the two descriptors and hold no buffer.
struct _IO_FILE {
    int fd;
};
static _IO_FILE out_file{1};
static _IO_FILE error_file{2};
extern FILE* const stdout;
extern FILE* const stderr;
FILE* const stdout = &out_file;
FILE* const stderr = &error_file;

int vsnprintf(char* out, std::size_t capacity, const char* format, std::va_list arguments) {
    Sink sink{out, capacity};
    std::va_list own;
    va_copy(own, arguments);
    format_all(&sink, format, &own);
    va_end(own);
    if (capacity > 0) out[sink.length < capacity ? sink.length : capacity - 1] = '\0';
    return static_cast<int>(sink.length);
}

int snprintf(char* out, std::size_t capacity, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(out, capacity, format, arguments);
    va_end(arguments);
    return length;
}

int printf(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int length = print_to(1, format, arguments);
    va_end(arguments);
    return length;
}

int fprintf(FILE* file, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int length = print_to(file->fd, format, arguments);
    va_end(arguments);
    return length;
}

std::size_t fwrite(const void* from, std::size_t size, std::size_t count, FILE* file) {
    ouro::wasm_host::write(file->fd, static_cast<const char*>(from), size * count);
    return count;
}

int fputs(const char* text, FILE* file) {
    ouro::wasm_host::write(file->fd, text, std::strlen(text));
    return 0;
}

int puts(const char* text) {
    return printf("%s\n", text);
}

int fputc(int c, FILE* file) {
    const char byte = static_cast<char>(c);
    ouro::wasm_host::write(file->fd, &byte, 1);
    return c;
}

int putchar(int c) {
    return fputc(c, stdout);
}

int fflush(FILE*) {
    return 0;
}

}  // extern "C"
