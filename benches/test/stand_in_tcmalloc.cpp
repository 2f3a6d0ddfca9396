// Has the names by which google's tcmalloc is known, and nothing else of it.
#include <cstddef>
#include <cstdlib>

extern "C" {
void* TCMallocInternalMalloc(std::size_t size) noexcept;
void TCMallocInternalFree(void* object) noexcept;
}

void* TCMallocInternalMalloc(std::size_t size) noexcept {
    return std::malloc(size);
}
void TCMallocInternalFree(void* object) noexcept {
    std::free(object);
}
