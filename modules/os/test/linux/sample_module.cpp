// A library with variables of each kind, that takes memory in each way.
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>

#define OURO_SAMPLE extern "C" __attribute__((visibility("default")))

namespace {

struct Table {
    const char* name;
    void (*function)(void*);
};

}  // namespace

OURO_SAMPLE int sample_data = 42;
OURO_SAMPLE char sample_zeros[20'000] = {};
OURO_SAMPLE thread_local int sample_of_thread = 7;
// Holds addresses, so that the loader fills it in and protects it.
OURO_SAMPLE const Table sample_table = {"free", std::free};

OURO_SAMPLE void* sample_malloc(std::size_t bytes) {
    return std::malloc(bytes);
}
OURO_SAMPLE void* sample_calloc(std::size_t count, std::size_t bytes) {
    return std::calloc(count, bytes);
}
OURO_SAMPLE void* sample_realloc(void* block, std::size_t bytes) {
    return std::realloc(block, bytes);
}
OURO_SAMPLE void* sample_aligned(std::size_t alignment, std::size_t bytes) {
    return std::aligned_alloc(alignment, bytes);
}
OURO_SAMPLE void* sample_new(std::size_t bytes) {
    return ::operator new(bytes);
}
OURO_SAMPLE void* sample_new_nothrow(std::size_t bytes) {
    return ::operator new[](bytes, std::nothrow);
}
OURO_SAMPLE char* sample_strdup(const char* text) {
    return ::strdup(text);
}
OURO_SAMPLE void* sample_mmap(std::size_t bytes) {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
