// C++'s operators. The library itself does not need the C++ runtime: what throws is looked up in the program,
// which has it when it calls these.
//
// A program may replace some of the operators and rely on the others to call those: so the standard has it.
// Each of ours that is to call another does so when that one is not ours, and the short way otherwise.
#include "new_delete.hpp"

#include "process_heap.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

#include <dlfcn.h>

namespace heap = ouro::process_heap;

// The C++ runtime's own functions, where there is one.
extern "C" {
[[gnu::weak]] std::new_handler ouro_get_new_handler() __asm__("_ZSt15get_new_handlerv");
[[gnu::weak]] void ouro_throw_bad_alloc() __asm__("_ZSt17__throw_bad_allocv");
}

// What a try block needs of it: missing in a program without C++, which never gets there.
__asm__(
    ".weak __gxx_personality_v0\n.weak __cxa_begin_catch\n.weak __cxa_end_catch\n.weak _Unwind_Resume\n.weak "
    "_ZSt9terminatev");

namespace {

#define OURO_EXPORT [[gnu::visibility("default")]]

// A program without C++ may load a library with it later, which the weak names above do not see.
void* loaded_function(const char* name) noexcept {
    for (const char* const runtime : {"libstdc++.so.6", "libc++.so.1"}) {
        void* const library = ::dlopen(runtime, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) continue;
        void* const function = ::dlsym(library, name);
        ::dlclose(library);
        if (function != nullptr) return function;
    }
    return nullptr;
}

std::new_handler new_handler() {
    if (&ouro_get_new_handler != nullptr) return ouro_get_new_handler();
    using Function = std::new_handler();
    auto* const function = reinterpret_cast<Function*>(loaded_function("_ZSt15get_new_handlerv"));
    return function != nullptr ? function() : nullptr;
}

[[noreturn]] void throw_bad_alloc() {
    if (&ouro_throw_bad_alloc != nullptr) ouro_throw_bad_alloc();
    using Function = void();
    auto* const function = reinterpret_cast<Function*>(loaded_function("_ZSt17__throw_bad_allocv"));
    if (function != nullptr) function();
    std::abort();
}

// Asks the program's handler to free something until the allocation succeeds or there is no handler.
[[gnu::noinline]] void* try_again(std::size_t size, std::size_t alignment) {
    while (const std::new_handler handler = new_handler()) {
        handler();
        if (void* const block = heap::allocate_slow(size, alignment, false)) return block;
    }
    return nullptr;
}

[[gnu::noinline]] void* try_again_or_throw(std::size_t size, std::size_t alignment) {
    if (void* const block = try_again(size, alignment)) return block;
    throw_bad_alloc();
}

void* make(std::size_t size) {
    void* const block = heap::allocate(size);
    return block != nullptr ? block : try_again_or_throw(size, heap::kAlignment);
}

void* make_aligned(std::size_t size, std::align_val_t alignment) {
    void* const block = heap::allocate_slow(size, static_cast<std::size_t>(alignment), false);
    return block != nullptr ? block : try_again_or_throw(size, static_cast<std::size_t>(alignment));
}

// What throws, the program's handler or its operator, has failed.
template <class Make>
void* null_when_it_throws(Make make_block) noexcept {
    try {
        return make_block();
    } catch (...) {
        return nullptr;
    }
}

void* make_or_null(std::size_t size, std::size_t alignment) noexcept {
    void* const block =
        alignment <= heap::kAlignment ? heap::allocate(size) : heap::allocate_slow(size, alignment, false);
    if (block != nullptr || new_handler() == nullptr) return block;
    return null_when_it_throws([=] { return try_again(size, alignment); });
}

// Whether the program's names for the four operators that the others are to call lead to ours; false until
// the first look.
struct OursInUse {
    bool plain_new = false;
    bool plain_delete = false;
    bool aligned_new = false;
    bool aligned_delete = false;
};
constinit OursInUse g_ours;

}  // namespace

// The names by which the library itself reaches its own, whoever else defines them.
#define OURO_OWN_NAME(own, exported) __asm__(".globl " #own "\n.hidden " #own "\n.set " #own ", " #exported)
OURO_OWN_NAME(ouro_own_new, _Znwm);
OURO_OWN_NAME(ouro_own_delete, _ZdlPv);
OURO_OWN_NAME(ouro_own_aligned_new, _ZnwmSt11align_val_t);
OURO_OWN_NAME(ouro_own_aligned_delete, _ZdlPvSt11align_val_t);
extern "C" {
[[gnu::visibility("hidden")]] void ouro_own_new();
[[gnu::visibility("hidden")]] void ouro_own_delete();
[[gnu::visibility("hidden")]] void ouro_own_aligned_new();
[[gnu::visibility("hidden")]] void ouro_own_aligned_delete();
}

namespace {

// Compares at run time: to the compiler two names are two functions.
template <class Function>
bool is_same(Function* in_use, void (*own)()) noexcept {
    auto address = reinterpret_cast<std::uintptr_t>(in_use);
    __asm__("" : "+r"(address));
    return address == reinterpret_cast<std::uintptr_t>(own);
}

}  // namespace

void ouro::process_heap::look_for_replaced_operators() noexcept {
    using New = void*(std::size_t);
    using Delete = void(void*);
    using AlignedNew = void*(std::size_t, std::align_val_t);
    using AlignedDelete = void(void*, std::align_val_t);
    g_ours.plain_new = is_same<New>(&::operator new, ouro_own_new);
    g_ours.plain_delete = is_same<Delete>(&::operator delete, ouro_own_delete);
    g_ours.aligned_new = is_same<AlignedNew>(&::operator new, ouro_own_aligned_new);
    g_ours.aligned_delete = is_same<AlignedDelete>(&::operator delete, ouro_own_aligned_delete);
}

OURO_EXPORT void* operator new(std::size_t size) {
    return make(size);
}
OURO_EXPORT void* operator new[](std::size_t size) {
    return g_ours.plain_new ? make(size) : ::operator new(size);
}
OURO_EXPORT void* operator new(std::size_t size, std::align_val_t alignment) {
    return make_aligned(size, alignment);
}
OURO_EXPORT void* operator new[](std::size_t size, std::align_val_t alignment) {
    return g_ours.aligned_new ? make_aligned(size, alignment) : ::operator new(size, alignment);
}

OURO_EXPORT void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    if (g_ours.plain_new) return make_or_null(size, heap::kAlignment);
    return null_when_it_throws([=] { return ::operator new(size); });
}
OURO_EXPORT void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
    return ::operator new(size, tag);
}
OURO_EXPORT void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    if (g_ours.aligned_new) return make_or_null(size, static_cast<std::size_t>(alignment));
    return null_when_it_throws([=] { return ::operator new(size, alignment); });
}
OURO_EXPORT void* operator new[](std::size_t size, std::align_val_t alignment,
                                 const std::nothrow_t& tag) noexcept {
    return ::operator new(size, alignment, tag);
}

OURO_EXPORT void operator delete(void* block) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete[](void* block) noexcept {
    if (g_ours.plain_delete) [[likely]]
        return heap::deallocate(block);
    ::operator delete(block);
}
OURO_EXPORT void operator delete(void* block, std::size_t size) noexcept {
    if (g_ours.plain_delete) [[likely]]
        return heap::deallocate_sized(block, size);
    ::operator delete(block);
}
OURO_EXPORT void operator delete[](void* block, std::size_t size) noexcept {
    if (g_ours.plain_delete) [[likely]]
        return heap::deallocate_sized(block, size);
    ::operator delete[](block);
}
OURO_EXPORT void operator delete(void* block, const std::nothrow_t&) noexcept {
    ::operator delete(block);
}
OURO_EXPORT void operator delete[](void* block, const std::nothrow_t&) noexcept {
    ::operator delete[](block);
}

OURO_EXPORT void operator delete(void* block, std::align_val_t) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete[](void* block, std::align_val_t alignment) noexcept {
    ::operator delete(block, alignment);
}
OURO_EXPORT void operator delete(void* block, std::size_t, std::align_val_t alignment) noexcept {
    ::operator delete(block, alignment);
}
OURO_EXPORT void operator delete[](void* block, std::size_t, std::align_val_t alignment) noexcept {
    ::operator delete[](block, alignment);
}
OURO_EXPORT void operator delete(void* block, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    ::operator delete(block, alignment);
}
OURO_EXPORT void operator delete[](void* block, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    ::operator delete[](block, alignment);
}
