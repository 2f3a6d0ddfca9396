// The functions of the C library's malloc family.
#include "process_heap.hpp"

#include <ouro/base/align.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <bit>
#include <cerrno>
#include <cstddef>

namespace heap = ouro::process_heap;

namespace {

// What the compiler's flag for hidden symbols does not reach.
#define OURO_EXPORT [[gnu::visibility("default")]]

// Null, with errno set, when the product does not fit.
void* allocate_array(std::size_t count, std::size_t size, void* (*allocate)(std::size_t) noexcept) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return allocate(bytes);
}

void* allocate_zeroed(std::size_t bytes) noexcept {
    if (bytes > ouro::detail::kLargestTableBytes) return heap::allocate_slow(bytes, heap::kAlignment, true);
    void* const block = heap::allocate(bytes);
    if (block != nullptr) __builtin_memset(block, 0, bytes);
    return block;
}

// Requires: a power of two.
void* allocate_aligned(std::size_t alignment, std::size_t size) noexcept {
    if (alignment <= heap::kAlignment) return heap::allocate(size);
    return heap::allocate_slow(size, alignment, false);
}

}  // namespace

extern "C" {

OURO_EXPORT void* malloc(std::size_t size) noexcept {
    return heap::allocate(size);
}

OURO_EXPORT void free(void* block) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void cfree(void* block) noexcept {
    heap::deallocate(block);
}
// realloc keeps a block where it is for a size of another class, so that the size alone does not say where
// the block belongs.
OURO_EXPORT void free_sized(void* block, std::size_t) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void free_aligned_sized(void* block, std::size_t, std::size_t) noexcept {
    heap::deallocate(block);
}

OURO_EXPORT void* calloc(std::size_t count, std::size_t size) noexcept {
    return allocate_array(count, size, allocate_zeroed);
}

OURO_EXPORT void* realloc(void* block, std::size_t size) noexcept {
    return heap::reallocate(block, size);
}

OURO_EXPORT void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return heap::reallocate(block, bytes);
}

OURO_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    if (!ouro::is_alignment(alignment)) {
        errno = EINVAL;
        return nullptr;
    }
    return allocate_aligned(alignment, size);
}

// Older than the others and more lenient: it takes the next power of two, as the C library does.
OURO_EXPORT void* memalign(std::size_t alignment, std::size_t size) noexcept {
    if (alignment > heap::kMostBytes / 2 + 1) {
        errno = EINVAL;
        return nullptr;
    }
    return allocate_aligned(std::bit_ceil(alignment), size);
}

OURO_EXPORT int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    if (!ouro::is_alignment(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
    const int saved_errno = errno;
    void* const block = allocate_aligned(alignment, size);
    errno = saved_errno;
    if (block == nullptr) return ENOMEM;
    *result = block;
    return 0;
}

OURO_EXPORT void* valloc(std::size_t size) noexcept {
    return allocate_aligned(ouro::os::page_size(), size);
}

OURO_EXPORT void* pvalloc(std::size_t size) noexcept {
    const auto bytes = ouro::checked_align_up(size == 0 ? 1 : size, ouro::os::page_size());
    if (!bytes) {
        errno = ENOMEM;
        return nullptr;
    }
    return allocate_aligned(ouro::os::page_size(), *bytes);
}

OURO_EXPORT std::size_t malloc_usable_size(void* block) noexcept {
    return heap::usable_size(block);
}

// The C library's other names for the same, which some programs call to get around a malloc of their own:
// blocks of one heap must not meet free() of another.
OURO_EXPORT void* __libc_malloc(std::size_t size) noexcept {
    return heap::allocate(size);
}
OURO_EXPORT void* __libc_calloc(std::size_t count, std::size_t size) noexcept {
    return allocate_array(count, size, allocate_zeroed);
}
OURO_EXPORT void* __libc_realloc(void* block, std::size_t size) noexcept {
    return heap::reallocate(block, size);
}
OURO_EXPORT void __libc_free(void* block) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept {
    return memalign(alignment, size);
}
OURO_EXPORT void* __libc_valloc(std::size_t size) noexcept {
    return valloc(size);
}
OURO_EXPORT void* __libc_pvalloc(std::size_t size) noexcept {
    return pvalloc(size);
}

}  // extern "C"
