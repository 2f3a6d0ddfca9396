#pragma once

#include <ouro/base/memory_block.hpp>

#include <cstddef>

// Tells AddressSanitizer and Valgrind what an allocator of ours hands out, so that they find uses of memory
// that is free in our eyes while the system sees one large mapping. In builds with neither, nothing is left
// of these calls; kActive lets a caller skip what it would only compute for them.
//
// A pool is a range that an allocator cuts blocks from, named by the range's first address.

#if defined(__SANITIZE_ADDRESS__)
#    define OURO_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define OURO_ADDRESS_SANITIZER 1
#    endif
#endif

#if defined(OURO_ADDRESS_SANITIZER)
// Just as <sanitizer/asan_interface.h> has them, which may be included as well.
extern "C" void __asan_poison_memory_region(const volatile void* address, std::size_t bytes);
extern "C" void __asan_unpoison_memory_region(const volatile void* address, std::size_t bytes);
#endif

#if defined(OURO_VALGRIND)
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wold-style-cast"
#    include <valgrind/memcheck.h>
#endif

namespace ouro::annotate {

#if defined(OURO_ADDRESS_SANITIZER)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#if defined(OURO_VALGRIND)
inline constexpr bool kValgrind = true;
#else
inline constexpr bool kValgrind = false;
#endif
inline constexpr bool kActive = kAddressSanitizer || kValgrind;

// Using the bytes is an error from now on.
inline void forbid([[maybe_unused]] MemoryBlock bytes) noexcept {
#if defined(OURO_ADDRESS_SANITIZER)
    __asan_poison_memory_region(bytes.data, bytes.size);
#endif
#if defined(OURO_VALGRIND)
    (void)VALGRIND_MAKE_MEM_NOACCESS(bytes.data, bytes.size);
#endif
}

// The bytes may be written, and read once they were.
inline void permit([[maybe_unused]] MemoryBlock bytes) noexcept {
#if defined(OURO_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(bytes.data, bytes.size);
#endif
#if defined(OURO_VALGRIND)
    (void)VALGRIND_MAKE_MEM_UNDEFINED(bytes.data, bytes.size);
#endif
}

// The bytes may be read and written, and count as written: for memory that goes back to where it came from.
inline void permit_written([[maybe_unused]] MemoryBlock bytes) noexcept {
#if defined(OURO_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(bytes.data, bytes.size);
#endif
#if defined(OURO_VALGRIND)
    (void)VALGRIND_MAKE_MEM_DEFINED(bytes.data, bytes.size);
#endif
}

// A pool begins; none of its bytes may be used. Only the `usable` part of it has memory by now.
inline void pool_created([[maybe_unused]] MemoryBlock pool, [[maybe_unused]] std::size_t usable) noexcept {
#if defined(OURO_VALGRIND)
    VALGRIND_CREATE_MEMPOOL(pool.data, 0, 0);
#endif
    forbid({pool.data, usable});
}

// A pool ends; what had memory belongs to whoever it came from.
inline void pool_destroyed([[maybe_unused]] MemoryBlock pool, [[maybe_unused]] std::size_t usable) noexcept {
#if defined(OURO_VALGRIND)
    VALGRIND_DESTROY_MEMPOOL(pool.data);
#endif
    permit_written({pool.data, usable});
}

inline void allocated([[maybe_unused]] const void* pool, [[maybe_unused]] MemoryBlock block) noexcept {
#if defined(OURO_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(block.data, block.size);
#endif
#if defined(OURO_VALGRIND)
    VALGRIND_MEMPOOL_ALLOC(pool, block.data, block.size);
#endif
}

// Requires: a block told by allocated().
inline void freed([[maybe_unused]] const void* pool, [[maybe_unused]] MemoryBlock block) noexcept {
#if defined(OURO_ADDRESS_SANITIZER)
    __asan_poison_memory_region(block.data, block.size);
#endif
#if defined(OURO_VALGRIND)
    VALGRIND_MEMPOOL_FREE(pool, block.data);
#endif
}

// A block told by allocated() ends elsewhere now.
inline void resized([[maybe_unused]] const void* pool, [[maybe_unused]] MemoryBlock before,
                    [[maybe_unused]] MemoryBlock after) noexcept {
#if defined(OURO_VALGRIND)
    VALGRIND_MEMPOOL_CHANGE(pool, before.data, after.data, after.size);
#endif
    if constexpr (kActive) {
        const std::size_t common = before.size < after.size ? before.size : after.size;
        forbid({before.data + common, before.size - common});
        permit({after.data + common, after.size - common});
    }
}

// Everything in the part behind `kept` is free, whatever blocks it was.
inline void freed_behind([[maybe_unused]] MemoryBlock kept, [[maybe_unused]] MemoryBlock part) noexcept {
#if defined(OURO_VALGRIND)
    VALGRIND_MEMPOOL_TRIM(kept.data, kept.data, kept.size);
#endif
    forbid(part);
}

// While one lives, Valgrind says nothing about what this thread does: for code that looks into free memory on
// purpose. For AddressSanitizer such code is marked OURO_LOOKS_INTO_FREE_MEMORY.
class QuietScope {
public:
    QuietScope() noexcept {
#if defined(OURO_VALGRIND)
        VALGRIND_DISABLE_ERROR_REPORTING;
#endif
    }
    ~QuietScope() {
#if defined(OURO_VALGRIND)
        VALGRIND_ENABLE_ERROR_REPORTING;
#endif
    }
    QuietScope(const QuietScope&) = delete;
    QuietScope& operator=(const QuietScope&) = delete;
};

}  // namespace ouro::annotate

#if defined(OURO_VALGRIND)
#    pragma GCC diagnostic pop
#endif

#define OURO_LOOKS_INTO_FREE_MEMORY [[gnu::no_sanitize_address]]
