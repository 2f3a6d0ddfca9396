#include "heap_stand_ins.hpp"

#include <ouro/os/stack_trace.hpp>
#include <ouro/os/thread.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <new>

#include <dlfcn.h>
#include <sys/types.h>

namespace ouro::os {
namespace {

struct Listener {
    HeapCallFunction function = nullptr;
    void* context = nullptr;
};

// Of the one watch that a process has. The pointer says whether there is one; readers count themselves, so
// that it can go.
Listener listener;
std::atomic<const Listener*> active = nullptr;
std::atomic<std::uint32_t> readers = 0;
// What the listener itself asks for is not told.
constinit thread_local bool is_inside = false;

void tell(const char* function, std::size_t bytes, const void* caller) noexcept {
    if (is_inside) return;
    is_inside = true;
    readers.fetch_add(1, std::memory_order_seq_cst);
    if (const Listener* told = active.load(std::memory_order_seq_cst); told != nullptr)
        told->function(told->context, {.function = function, .bytes = bytes, .caller = caller});
    readers.fetch_sub(1, std::memory_order_seq_cst);
    is_inside = false;
}

enum class Name : std::size_t {
    malloc,
    calloc,
    realloc,
    reallocarray,
    aligned_alloc,
    memalign,
    posix_memalign,
    strdup,
    strndup,
    mmap,
    mmap64,
    new_one,
    new_array,
    new_one_nothrow,
    new_array_nothrow,
    new_one_aligned,
    new_array_aligned,
    new_one_aligned_nothrow,
    new_array_aligned_nothrow,
    count_,
};

constexpr std::size_t kCount = static_cast<std::size_t>(Name::count_);
constexpr std::array<const char*, kCount> kNames = {
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "memalign",
    "posix_memalign",
    "strdup",
    "strndup",
    "mmap",
    "mmap64",
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
};
// Written before a library's calls come here, which no tool sees.
std::array<std::atomic<void*>, kCount> originals;

std::size_t index_of(Name name) noexcept {
    return static_cast<std::size_t>(name);
}

// None of these is noexcept: operator new throws, and what it throws passes through here.
template <Name kName, class Result, class... Arguments>
Result pass_on(Arguments... arguments) {
    void* const original = originals[index_of(kName)].load(std::memory_order_acquire);
    return reinterpret_cast<Result (*)(Arguments...)>(original)(arguments...);
}

template <Name kName, class... Rest>
void* sized(std::size_t bytes, Rest... rest) {
    tell(kNames[index_of(kName)], bytes, OURO_RETURN_ADDRESS());
    return pass_on<kName, void*, std::size_t, Rest...>(bytes, rest...);
}

template <Name kName>
void* aligned(std::size_t alignment, std::size_t bytes) {
    tell(kNames[index_of(kName)], bytes, OURO_RETURN_ADDRESS());
    return pass_on<kName, void*>(alignment, bytes);
}

void* stand_for_calloc(std::size_t count, std::size_t bytes) {
    tell("calloc", count * bytes, OURO_RETURN_ADDRESS());
    return pass_on<Name::calloc, void*>(count, bytes);
}

// Of no bytes it is a free.
void* stand_for_realloc(void* block, std::size_t bytes) {
    if (bytes != 0) tell("realloc", bytes, OURO_RETURN_ADDRESS());
    return pass_on<Name::realloc, void*>(block, bytes);
}

void* stand_for_reallocarray(void* block, std::size_t count, std::size_t bytes) {
    if (count * bytes != 0) tell("reallocarray", count * bytes, OURO_RETURN_ADDRESS());
    return pass_on<Name::reallocarray, void*>(block, count, bytes);
}

int stand_for_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    tell("posix_memalign", bytes, OURO_RETURN_ADDRESS());
    return pass_on<Name::posix_memalign, int>(block, alignment, bytes);
}

char* stand_for_strdup(const char* text) {
    tell("strdup", std::strlen(text) + 1, OURO_RETURN_ADDRESS());
    return pass_on<Name::strdup, char*>(text);
}

char* stand_for_strndup(const char* text, std::size_t most) {
    const void* end = std::memchr(text, 0, most);
    const auto length =
        end == nullptr ? most : static_cast<std::size_t>(static_cast<const char*>(end) - text);
    tell("strndup", length + 1, OURO_RETURN_ADDRESS());
    return pass_on<Name::strndup, char*>(text, most);
}

template <Name kName>
void* mapping(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) {
    tell(kNames[index_of(kName)], bytes, OURO_RETURN_ADDRESS());
    return pass_on<kName, void*>(address, bytes, protection, flags, file, offset);
}

template <class Function>
void* address_of(Function* function) noexcept {
    return reinterpret_cast<void*>(function);
}

using NoThrow = const std::nothrow_t*;
using Align = std::size_t;

const std::array<HeapStandIn, kCount> kStandIns = {{
    {kNames[0], address_of(sized<Name::malloc>)},
    {kNames[1], address_of(stand_for_calloc)},
    {kNames[2], address_of(stand_for_realloc)},
    {kNames[3], address_of(stand_for_reallocarray)},
    {kNames[4], address_of(aligned<Name::aligned_alloc>)},
    {kNames[5], address_of(aligned<Name::memalign>)},
    {kNames[6], address_of(stand_for_posix_memalign)},
    {kNames[7], address_of(stand_for_strdup)},
    {kNames[8], address_of(stand_for_strndup)},
    {kNames[9], address_of(mapping<Name::mmap>)},
    {kNames[10], address_of(mapping<Name::mmap64>)},
    {kNames[11], address_of(sized<Name::new_one>)},
    {kNames[12], address_of(sized<Name::new_array>)},
    {kNames[13], address_of(sized<Name::new_one_nothrow, NoThrow>)},
    {kNames[14], address_of(sized<Name::new_array_nothrow, NoThrow>)},
    {kNames[15], address_of(sized<Name::new_one_aligned, Align>)},
    {kNames[16], address_of(sized<Name::new_array_aligned, Align>)},
    {kNames[17], address_of(sized<Name::new_one_aligned_nothrow, Align, NoThrow>)},
    {kNames[18], address_of(sized<Name::new_array_aligned_nothrow, Align, NoThrow>)},
}};

}  // namespace

std::span<const HeapStandIn> heap_stand_ins() noexcept {
    return kStandIns;
}

bool find_original(const HeapStandIn& stand_in) noexcept {
    auto& original = originals[static_cast<std::size_t>(&stand_in - kStandIns.data())];
    if (original.load(std::memory_order_relaxed) == nullptr)
        original.store(::dlsym(RTLD_DEFAULT, stand_in.name), std::memory_order_release);
    return original.load(std::memory_order_relaxed) != nullptr;
}

void tell_heap_calls(HeapCallFunction function, void* context) noexcept {
    if (function != nullptr) {
        listener = {function, context};
        active.store(&listener, std::memory_order_seq_cst);
        return;
    }
    active.store(nullptr, std::memory_order_seq_cst);
    // Whoever destroys a watch in its own function would wait for itself; nobody can mean that.
    while (readers.load(std::memory_order_seq_cst) != 0)
        yield_thread();
}

}  // namespace ouro::os
