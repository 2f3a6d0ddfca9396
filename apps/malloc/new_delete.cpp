// C++'s operators. The library itself does not need the C++ runtime: what throws is looked up in the program,
// which has it when it calls these.
#include "process_heap.hpp"

#include <cstdlib>
#include <new>

namespace heap = ouro::process_heap;

// The C++ runtime's own functions, where there is one.
extern "C" {
[[gnu::weak]] std::new_handler ouro_get_new_handler() __asm__("_ZSt15get_new_handlerv");
[[noreturn, gnu::weak]] void ouro_throw_bad_alloc() __asm__("_ZSt17__throw_bad_allocv");
}

// What a try block needs of it: missing in a program without C++, which never gets there.
__asm__(".weak __gxx_personality_v0\n.weak __cxa_begin_catch\n.weak __cxa_end_catch\n.weak _Unwind_Resume");

namespace {

#define OURO_EXPORT [[gnu::visibility("default")]]

std::new_handler new_handler() {
    return &ouro_get_new_handler != nullptr ? ouro_get_new_handler() : nullptr;
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
    if (&ouro_throw_bad_alloc != nullptr) ouro_throw_bad_alloc();
    std::abort();
}

void* make(std::size_t size) {
    void* const block = heap::allocate(size);
    return block != nullptr ? block : try_again_or_throw(size, heap::kAlignment);
}

void* make_aligned(std::size_t size, std::align_val_t alignment) {
    void* const block = heap::allocate_slow(size, static_cast<std::size_t>(alignment), false);
    return block != nullptr ? block : try_again_or_throw(size, static_cast<std::size_t>(alignment));
}

// A handler that throws counts as a failure here.
void* make_or_null(std::size_t size, std::size_t alignment) noexcept {
    void* const block =
        alignment <= heap::kAlignment ? heap::allocate(size) : heap::allocate_slow(size, alignment, false);
    if (block != nullptr || new_handler() == nullptr) return block;
    try {
        return try_again(size, alignment);
    } catch (...) {
        return nullptr;
    }
}

}  // namespace

OURO_EXPORT void* operator new(std::size_t size) {
    return make(size);
}
OURO_EXPORT void* operator new[](std::size_t size) {
    return make(size);
}
OURO_EXPORT void* operator new(std::size_t size, std::align_val_t alignment) {
    return make_aligned(size, alignment);
}
OURO_EXPORT void* operator new[](std::size_t size, std::align_val_t alignment) {
    return make_aligned(size, alignment);
}
OURO_EXPORT void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return make_or_null(size, heap::kAlignment);
}
OURO_EXPORT void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return make_or_null(size, heap::kAlignment);
}
OURO_EXPORT void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return make_or_null(size, static_cast<std::size_t>(alignment));
}
OURO_EXPORT void* operator new[](std::size_t size, std::align_val_t alignment,
                                 const std::nothrow_t&) noexcept {
    return make_or_null(size, static_cast<std::size_t>(alignment));
}

OURO_EXPORT void operator delete(void* block) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete[](void* block) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete(void* block, std::size_t size) noexcept {
    heap::deallocate_sized(block, size);
}
OURO_EXPORT void operator delete[](void* block, std::size_t size) noexcept {
    heap::deallocate_sized(block, size);
}
OURO_EXPORT void operator delete(void* block, std::align_val_t) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete[](void* block, std::align_val_t) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete(void* block, const std::nothrow_t&) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete[](void* block, const std::nothrow_t&) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
    heap::deallocate(block);
}
OURO_EXPORT void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
    heap::deallocate(block);
}
