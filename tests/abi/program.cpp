// Exchanges resources and blocks with a shared library that another compiler made, both ways. Prints the
// first thing that is wrong.
#include "exchange.hpp"
#include "exercise.hpp"

#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/stack_allocator.hpp>

#include <cstdio>
#include <cstring>

namespace {

using ouro::Expected;
using ouro::MemoryBlock;
using ouro::MemoryResource;
using ouro::Status;

int failures = 0;

void expect(bool right, const char* what) {
    if (right) return;
    std::printf("wrong: %s\n", what);
    ++failures;
}

// A resource of the program's own making, with type information, which the library has not: every call of the
// library ends up here.
class OwnResource : public MemoryResource {
public:
    explicit OwnResource(MemoryResource& upstream) : upstream_(upstream) {}
    virtual ~OwnResource() = default;

    Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override {
        ++calls;
        return upstream_.allocate(size, alignment);
    }
    void deallocate(MemoryBlock block, std::size_t alignment) noexcept override {
        ++calls;
        upstream_.deallocate(block, alignment);
    }
    Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) noexcept override {
        ++calls;
        return upstream_.reallocate(block, new_size, alignment);
    }
    [[nodiscard]] bool owns(const void* address) const noexcept override { return upstream_.owns(address); }
    [[nodiscard]] ouro::ResourceInfo info() const noexcept override { return upstream_.info(); }
    [[nodiscard]] ouro::ResourceStats stats() const noexcept override { return upstream_.stats(); }
    [[nodiscard]] Status check() const noexcept override { return upstream_.check(); }
    Expected<MemoryBlock> try_resize(MemoryBlock block, std::size_t new_size,
                                     std::size_t alignment) noexcept override {
        ++calls;
        return upstream_.try_resize(block, new_size, alignment);
    }
    Expected<ouro::ResourceMark> place_mark() noexcept override { return upstream_.place_mark(); }
    void free_since(ouro::ResourceMark mark) noexcept override { upstream_.free_since(mark); }

    int calls = 0;

private:
    MemoryResource& upstream_;
};

// Allocated by one side, changed by the other, freed by the first and the other way round.
void exchange_blocks(MemoryResource& resource, const char* whose) {
    const std::size_t before = resource.stats().live_blocks;
    const auto mine = resource.allocate(200, 32);
    expect(mine.has_value(), whose);
    std::memset(mine->data, 9, 200);
    const auto grown = exchange::reallocate(&resource, *mine, 3000, 32);
    expect(grown && grown->size >= 3000 && holds(*grown, 200, 9), "the library grows what the program took");
    resource.deallocate(*grown, 32);

    const auto theirs = exchange::allocate(&resource, 200, 128);
    expect(theirs && ouro::is_aligned(theirs->data, 128) && resource.owns(theirs->data),
           "the library allocates for the program");
    const auto shrunk = resource.reallocate(*theirs, 50, 128);
    expect(shrunk && shrunk->data == theirs->data, "the program shrinks what the library took");
    const auto resized = exchange::resize(&resource, *shrunk, 4000, 128);
    expect(resized && resized->data == shrunk->data && resized->size >= 4000, "the library resizes in place");
    exchange::deallocate(&resource, *resized, 128);
    expect(resource.stats().live_blocks == before, "every block went back");
    expect(exchange::allocate(&resource, 0, 16).status() == Status::zero_size, "a status through both");
    expect(exchange::allocate(&resource, std::size_t{1} << 40, 16).status() == Status::capacity_exhausted,
           "exhaustion through both");
}

// A block comes back in two registers: a function that is declared to return two plain words gives the same.
void compare_with_plain_words() {
    struct TwoWords {
        void* first;
        std::size_t second;
    };
    using Plain = TwoWords (*)(MemoryResource*, std::size_t, std::size_t);
    const auto plain = reinterpret_cast<Plain>(reinterpret_cast<void*>(&exchange::allocate));
    MemoryResource* resource = exchange::own_resource();
    const TwoWords block = plain(resource, 64, 16);
    expect(block.first != nullptr && block.second == 64, "a block is two words");
    exchange::deallocate(resource, {static_cast<std::byte*>(block.first), block.second}, 16);
    const TwoWords failure = plain(resource, 64, 3);
    expect(failure.first == nullptr && failure.second == static_cast<std::size_t>(Status::bad_alignment),
           "a failure is null and its number");
}

// The places of the functions in the table are part of the ABI: allocate is the first, try_resize the ninth.
void call_through_the_table() {
    struct TwoWords {
        void* first;
        std::size_t second;
    };
    using Allocate = TwoWords (*)(void*, std::size_t, std::size_t);
    using Resize = TwoWords (*)(void*, void*, std::size_t, std::size_t, std::size_t);
    using Deallocate = void (*)(void*, void*, std::size_t, std::size_t);
    void* object = exchange::own_resource();
    const std::size_t before = exchange::own_resource()->stats().live_blocks;
    void** table = *static_cast<void***>(object);
    const TwoWords block = reinterpret_cast<Allocate>(table[0])(object, 64, 16);
    expect(block.second == 64, "allocate stands first in the table");
    const TwoWords resized = reinterpret_cast<Resize>(table[8])(object, block.first, block.second, 128, 16);
    expect(resized.first == block.first && resized.second == 128, "try_resize stands ninth in the table");
    reinterpret_cast<Deallocate>(table[1])(object, resized.first, resized.second, 16);
    expect(exchange::own_resource()->stats().live_blocks == before, "deallocate stands second in the table");
}

void exchange_statuses() {
    for (int number = 1; number < 256; ++number) {
        const auto status = static_cast<Status>(number);
        expect(exchange::block_failure(status).status() == status, "a status in place of a block");
        expect(exchange::void_failure(status).status() == status, "a status in place of nothing");
        expect(exchange::number_failure(status).status() == status, "a status in place of a number");
    }
    expect(exchange::void_failure(Status::ok).has_value(), "success without a value");
    const auto number = exchange::number(0x0123456789ABCDEFU);
    expect(number && *number == 0x0123456789ABCDEFU, "a number");
}

}  // namespace

int main() {
    std::printf("library: %s, program: %s\n", exchange::compiler(), __VERSION__);
    expect(std::strcmp(exchange::compiler(), __VERSION__) != 0, "two compilers");
    MemoryResource* theirs = exchange::own_resource();
    auto stack = ouro::StackAllocator::create({.name = "exchanged", .max_bytes = std::size_t{1} << 20});
    auto frame = ouro::FrameAllocator::create({.name = "exchanged", .max_bytes = std::size_t{1} << 20});
    if (theirs == nullptr || !stack || !frame) return 2;
    OwnResource own(*theirs);

    exchange_blocks(*theirs, "a resource of the library");
    exchange_blocks(*stack, "a resource of the program");
    exchange_blocks(own, "a resource written in the program, on one of the library");
    expect(own.calls >= 8, "the library calls what the program wrote");
    expect(exercise(*theirs) == 0, "all functions of the library's resource");
    expect(exchange::exercise_it(&*stack) == 0, "all functions of the program's stack");
    expect(exchange::exercise_it(&*frame) == 0, "all functions of the program's frame");
    expect(exchange::exercise_it(&own) == 0, "all functions of what the program wrote");

    // One side builds a strategy on memory of the other.
    auto on_theirs = ouro::FrameAllocator::create_on(*theirs, 65536, "exchanged");
    expect(on_theirs && exchange::exercise_it(&*on_theirs) == 0,
           "a frame of the program on the library's memory");

    compare_with_plain_words();
    call_through_the_table();
    exchange_statuses();
    std::printf("%s\n", failures == 0 ? "both understand each other" : "they do not understand each other");
    return failures == 0 ? 0 : 1;
}
