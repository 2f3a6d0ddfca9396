#pragma once

#include <ouro/base/assert.hpp>

#include <cstdint>

namespace ouro {

class MemoryResource;

namespace detail {

// Fails with the address and the resource in the message: "message: 0x7f0c1fa31010 in 'textures'". The one or
// the other may be null.
[[noreturn, gnu::cold]] void block_assert_failed(const char* condition, const char* message, const char* file,
                                                 std::uint32_t line, const char* name, const void* address);
[[noreturn, gnu::cold]] void block_assert_failed(const char* condition, const char* message, const char* file,
                                                 std::uint32_t line, const MemoryResource& resource,
                                                 const void* address);

}  // namespace detail
}  // namespace ouro

// Asserts about a block that say which, and of whom: a MemoryResource, or a name. Both are looked for only
// when the assert fails.
#define OURO_BLOCK_ASSERT_ENABLED_(condition, message, resource, address) \
    (static_cast<bool>(condition)                                         \
         ? static_cast<void>(0)                                           \
         : ::ouro::detail::block_assert_failed(#condition, message, __FILE__, __LINE__, resource, address))

#define OURO_BLOCK_ASSERT(condition, message, resource, address) \
    OURO_BLOCK_ASSERT_ENABLED_(condition, message, resource, address)

#if OURO_ASSERT_LEVEL >= 1
#    define OURO_DEBUG_BLOCK_ASSERT(condition, message, resource, address) \
        OURO_BLOCK_ASSERT_ENABLED_(condition, message, resource, address)
#else
#    define OURO_DEBUG_BLOCK_ASSERT(condition, message, resource, address) \
        OURO_ASSERT_DISABLED_(condition, message)
#endif
