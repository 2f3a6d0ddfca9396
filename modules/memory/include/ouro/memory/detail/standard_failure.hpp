#pragma once

#include <ouro/base/assert.hpp>
#include <ouro/base/memory_block.hpp>

#include <cstddef>
#include <new>

// The standard library knows one way for an allocation to fail: an exception. Where the program that includes
// this has none, the failure asserts. What depends on the difference lives in a namespace named after it,
// since code of both kinds may be linked into one program, and the linker would choose one of two equal names
// for all.
#if defined(__cpp_exceptions)
#    define OURO_EXCEPTIONS_NAMESPACE with_exceptions
#else
#    define OURO_EXCEPTIONS_NAMESPACE without_exceptions
#endif

namespace ouro::detail {
inline namespace OURO_EXCEPTIONS_NAMESPACE {

#if defined(__cpp_exceptions)

[[noreturn, gnu::cold]] inline void fail_standard_allocation() {
    throw std::bad_alloc();
}

// What the call returns, or null when it throws.
template <class Call>
[[nodiscard]] void* null_when_thrown(const Call& call) noexcept {
    try {
        return call();
    } catch (...) {
        return nullptr;
    }
}

#else

[[noreturn, gnu::cold]] inline void fail_standard_allocation() {
    assert_failed("allocated", "no memory for the standard library, and no exceptions to say so", __FILE__,
                  __LINE__);
}

template <class Call>
[[nodiscard]] void* null_when_thrown(const Call& call) noexcept {
    return call();
}

#endif

// The block's address, or the standard library's kind of failure.
[[nodiscard]] inline void* address_or_failure(const Expected<MemoryBlock>& block) {
    if (!block) [[unlikely]]
        fail_standard_allocation();
    return block->data;
}

}  // namespace OURO_EXCEPTIONS_NAMESPACE
}  // namespace ouro::detail
