// A heap for test programs: one lock, free lists by size class, pages taken from linear_memory.hpp and never
// given back. Modules must not allocate from it, so it stands in an archive that only tests link.
#include "abort.hpp"
#include "linear_memory.hpp"
#include "lock.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

constexpr std::size_t kMinAlign = 16;
constexpr std::size_t kChunkBytes = 1 << 20;
constexpr std::size_t kMaxRequest = SIZE_MAX / 4;
constexpr std::uint32_t kLive = 0x11FE11FE;
constexpr std::uint32_t kFree = 0xF4EEF4EE;

// Stands right before the pointer that the program sees.
struct Header {
    std::uint32_t mark;
    std::uint32_t size_class;
    std::size_t bytes;  // as asked for
    void* start;        // of the whole block
};
static_assert(sizeof(Header) == kMinAlign);

// The mark lies where a header's does, so that freeing twice is seen.
struct FreeBlock {
    std::uint32_t mark;
    FreeBlock* next;
};

ouro::wasm::Lock heap_lock;
FreeBlock* free_lists[4 * 32];
std::uintptr_t chunk_at;
std::uintptr_t chunk_end;

// Four classes for each doubling: at most a quarter of a block is wasted.
std::uint32_t class_of(std::size_t bytes) {
    const std::size_t last = bytes - 1;
    const auto top = static_cast<std::uint32_t>(std::bit_width(last)) - 1;
    return 4 * top + static_cast<std::uint32_t>(last >> (top - 2) & 3);
}

std::size_t class_bytes(std::uint32_t size_class) {
    return (static_cast<std::size_t>(size_class % 4) + 5) << (size_class / 4 - 2);
}

// Where the new chunk does not follow the one before, the rest of that one is lost.
bool add_chunk(std::size_t bytes) {
    using namespace ouro::wasm;
    const auto count = static_cast<std::uint32_t>((bytes + kPageBytes - 1) / kPageBytes);
    PageRange range;
    if (take_pages(PageOwner::test_heap, {.count = count}, range) != TakeOutcome::taken) return false;
    if (!grow_to(range.end())) {
        (void)give_back_pages(PageOwner::test_heap, range);
        return false;
    }
    const std::uintptr_t start = range.first * kPageBytes;
    if (start != chunk_end) chunk_at = start;
    chunk_end = start + count * kPageBytes;
    return true;
}

// Chunks become larger as the heap does, so that it never fills the table of ranges.
bool extend_chunk(std::size_t bytes) {
    using namespace ouro::wasm;
    std::size_t wanted = pages_of(PageOwner::test_heap) * kPageBytes / 8;
    if (wanted < kChunkBytes) wanted = kChunkBytes;
    return (wanted > bytes && add_chunk(wanted)) || add_chunk(bytes);
}

void* take_block(std::uint32_t size_class) {
    ouro::wasm::LockGuard guard(heap_lock);
    if (FreeBlock* block = free_lists[size_class]) {
        free_lists[size_class] = block->next;
        return block;
    }
    const std::size_t bytes = (class_bytes(size_class) + kMinAlign - 1) & ~(kMinAlign - 1);
    if (chunk_end - chunk_at < bytes && !extend_chunk(bytes)) return nullptr;
    void* block = reinterpret_cast<void*>(chunk_at);
    chunk_at += bytes;
    return block;
}

Header* header_of(void* pointer) {
    Header* header = static_cast<Header*>(pointer) - 1;
    if (header->mark == kFree) ouro::wasm::abort_with("heap: the block was freed before");
    if (header->mark != kLive) ouro::wasm::abort_with("heap: not the start of a block, or overwritten");
    return header;
}

void* allocate(std::size_t bytes, std::size_t align) {
    if (align < kMinAlign) align = kMinAlign;
    if (bytes > kMaxRequest || align > kMaxRequest) return nullptr;
    const std::uint32_t size_class = class_of(bytes + align + sizeof(Header));
    void* start = take_block(size_class);
    if (start == nullptr) return nullptr;
    const auto first = reinterpret_cast<std::uintptr_t>(start) + sizeof(Header);
    const auto pointer = (first + align - 1) & ~(static_cast<std::uintptr_t>(align) - 1);
    auto* header = reinterpret_cast<Header*>(pointer) - 1;
    *header = {kLive, size_class, bytes, start};
    return header + 1;
}

void release(void* pointer) {
    if (pointer == nullptr) return;
    Header* header = header_of(pointer);
    header->mark = kFree;
    // Whoever still reads the block sees garbage rather than what was there.
    std::memset(pointer, 0xDD, header->bytes);
    auto* block = static_cast<FreeBlock*>(header->start);
    const std::uint32_t size_class = header->size_class;
    ouro::wasm::LockGuard guard(heap_lock);
    block->mark = kFree;
    block->next = free_lists[size_class];
    free_lists[size_class] = block;
}

void* allocate_or_abort(std::size_t bytes, std::size_t align) {
    void* pointer = allocate(bytes, align);
    if (pointer == nullptr) ouro::wasm::abort_with("heap: out of linear memory");
    return pointer;
}

std::size_t size_of(std::align_val_t align) {
    return static_cast<std::size_t>(align);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
    return allocate(bytes, kMinAlign);
}

void* aligned_alloc(std::size_t align, std::size_t bytes) {
    return allocate(bytes, align);
}

void* calloc(std::size_t count, std::size_t bytes) {
    std::size_t sum = 0;
    if (__builtin_mul_overflow(count, bytes, &sum)) return nullptr;
    void* pointer = allocate(sum, kMinAlign);
    return pointer == nullptr ? nullptr : std::memset(pointer, 0, sum);
}

void* realloc(void* pointer, std::size_t bytes) {
    if (pointer == nullptr) return allocate(bytes, kMinAlign);
    void* moved = allocate(bytes, kMinAlign);
    if (moved == nullptr) return nullptr;
    const std::size_t before = header_of(pointer)->bytes;
    std::memcpy(moved, pointer, before < bytes ? before : bytes);
    release(pointer);
    return moved;
}

void free(void* pointer) {
    release(pointer);
}

}  // extern "C"

void* operator new(std::size_t bytes) {
    return allocate_or_abort(bytes, kMinAlign);
}
void* operator new[](std::size_t bytes) {
    return allocate_or_abort(bytes, kMinAlign);
}
void* operator new(std::size_t bytes, std::align_val_t align) {
    return allocate_or_abort(bytes, size_of(align));
}
void* operator new[](std::size_t bytes, std::align_val_t align) {
    return allocate_or_abort(bytes, size_of(align));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate(bytes, kMinAlign);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate(bytes, kMinAlign);
}
void* operator new(std::size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept {
    return allocate(bytes, size_of(align));
}
void* operator new[](std::size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept {
    return allocate(bytes, size_of(align));
}
void operator delete(void* pointer) noexcept {
    release(pointer);
}
void operator delete[](void* pointer) noexcept {
    release(pointer);
}
void operator delete(void* pointer, std::size_t) noexcept {
    release(pointer);
}
void operator delete[](void* pointer, std::size_t) noexcept {
    release(pointer);
}
void operator delete(void* pointer, std::align_val_t) noexcept {
    release(pointer);
}
void operator delete[](void* pointer, std::align_val_t) noexcept {
    release(pointer);
}
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept {
    release(pointer);
}
void operator delete[](void* pointer, std::size_t, std::align_val_t) noexcept {
    release(pointer);
}
