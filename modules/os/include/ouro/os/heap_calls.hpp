#pragma once

#include <ouro/base/expected.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace ouro::os {

// Somebody asks the process for memory.
struct HeapCall {
    // As the linker calls it: "malloc", "_Znwm", "mmap".
    const char* function = nullptr;
    std::size_t bytes = 0;
    // Where the call returns to: in the function that made it, unless that jumped there as the last thing it
    // did.
    const void* caller = nullptr;
};

// Called on the thread that asks, before it gets its answer; what it asks for itself is not told.
using HeapCallFunction = void (*)(void* context, const HeapCall& call);

// Tells of each call by which the code of some libraries takes memory from the process: malloc and its
// family, operator new, strdup, mmap. Nothing need be loaded before or linked otherwise: the addresses that
// the loader put into those libraries are replaced by ones of ours as long as the watch lives, and the calls
// go on to where they went. Not seen: calls within the C library, and by pointers that the library made
// before. Where operator new in turn calls malloc, that call is of the C++ library.
//
// One at a time in a process; the libraries stay loaded meanwhile. Code may be running in the libraries at
// its beginning and end. Where the loader binds calls when they are first made, a function that another
// thread calls for the first time at the very beginning may be bound after it was replaced, and is not told
// of then: LD_BIND_NOW=1 or one call before leaves no such moment.
class HeapCallWatch {
public:
    // The program's own calls.
    static constexpr std::string_view kProgram = {};
    static constexpr std::size_t kMaxImports = 256;

    // Fails with zero_size (no libraries), busy (there is a watch), not_found and bad_argument (as
    // find_library_data), capacity_exhausted (more than kMaxImports), as protect does, and with not_supported
    // in wasm32 or for a kind of library that is not known. Nothing has changed then.
    [[nodiscard]] static Expected<HeapCallWatch> create(std::span<const std::string_view> libraries,
                                                        HeapCallFunction function, void* context) noexcept;

    HeapCallWatch(HeapCallWatch&& other) noexcept : import_count_(other.import_count_) {
        other.import_count_ = kNone;
    }
    HeapCallWatch& operator=(HeapCallWatch&& other) = delete;
    // Waits until nobody is in the function any more.
    ~HeapCallWatch();

    // How many of the libraries' ways to ask for memory are watched: zero when they know none.
    [[nodiscard]] std::size_t import_count() const noexcept { return import_count_; }

private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    explicit HeapCallWatch(std::size_t import_count) noexcept : import_count_(import_count) {}

    // kNone: moved from.
    std::size_t import_count_;
};

}  // namespace ouro::os
