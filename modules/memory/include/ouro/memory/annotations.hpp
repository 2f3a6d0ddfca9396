#pragma once

#include <ouro/base/memory_block.hpp>

#include <cstddef>
#include <cstdint>

// Tells AddressSanitizer and Valgrind what an allocator of ours hands out, so that they find uses of memory
// that is free in our eyes while the system sees one large mapping. In builds with neither, nothing is left
// of these calls; kActive lets a caller skip what it would only compute for them.
//
// A pool is what an allocator cuts blocks from, named by an address that names no other pool.

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

// How many bytes behind the first of a range there is a name for a pool: the first block of one pool may hold
// another, and that one a third.
[[nodiscard]] inline std::uint8_t pool_name_offset([[maybe_unused]] const std::byte* begin) noexcept {
    std::uint8_t offset = 0;
#if defined(OURO_VALGRIND)
    while (VALGRIND_MEMPOOL_EXISTS(begin + offset))
        ++offset;
#endif
    return offset;
}

// A pool begins; none of its bytes may be used. Of what it will have, only `usable` has memory by now.
inline void pool_created([[maybe_unused]] const void* pool, MemoryBlock usable) noexcept {
#if defined(OURO_VALGRIND)
    VALGRIND_CREATE_MEMPOOL(pool, 0, 0);
#endif
    forbid(usable);
}

// A pool ends; what had memory belongs to whoever it came from.
inline void pool_destroyed([[maybe_unused]] const void* pool, MemoryBlock usable) noexcept {
#if defined(OURO_VALGRIND)
    VALGRIND_DESTROY_MEMPOOL(pool);
#endif
    permit_written(usable);
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

// A block told by allocated() ends elsewhere now; it begins where it did.
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

// A block told by allocated() lies elsewhere now: for those who copy and forbid by themselves.
inline void moved([[maybe_unused]] const void* pool, [[maybe_unused]] MemoryBlock from,
                  [[maybe_unused]] MemoryBlock to) noexcept {
#if defined(OURO_VALGRIND)
    VALGRIND_MEMPOOL_CHANGE(pool, from.data, to.data, to.size);
#endif
}

// Of the pool's blocks only those in `kept` are left; `part` is what the others were in.
inline void freed_outside([[maybe_unused]] const void* pool, [[maybe_unused]] MemoryBlock kept,
                          MemoryBlock part) noexcept {
#if defined(OURO_VALGRIND)
    VALGRIND_MEMPOOL_TRIM(pool, kept.data, kept.size);
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

// A value that was read from free memory counts as written, whoever wrote there.
template <class Value>
inline void trust([[maybe_unused]] const Value& value) noexcept {
#if defined(OURO_VALGRIND)
    (void)VALGRIND_MAKE_MEM_DEFINED(&value, sizeof(value));
#endif
}

}  // namespace ouro::annotate

#if defined(OURO_VALGRIND)
#    pragma GCC diagnostic pop
#endif

#define OURO_LOOKS_INTO_FREE_MEMORY [[gnu::no_sanitize_address]]
