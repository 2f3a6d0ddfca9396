#include "injected_bugs.hpp"

#include "hardening/reusing_resource.hpp"

#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/os/error_output.hpp>

#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ouro::testing_support {
namespace {

// What the child says before it does something that may be noticed.
constexpr std::string_view kAccess = "@access\n";
constexpr std::string_view kFree = "@free\n";
constexpr std::string_view kEnd = "@end\n";

void now(std::string_view stage) {
    os::write_error_text(stage);
}

[[gnu::noinline]] void write_to(std::byte* address) {
    now(kAccess);
    *reinterpret_cast<volatile unsigned char*>(address) = 0x5A;
    asm volatile("");
}

[[gnu::noinline]] void read_from(const std::byte* address) {
    now(kAccess);
    [[maybe_unused]] const unsigned char value = *reinterpret_cast<const volatile unsigned char*>(address);
    asm volatile("");
}

// Reports name who calls: these stay on the stack while they do.
template <class Resource>
[[gnu::noinline]] MemoryBlock load_texture(Resource& resource, std::size_t size) {
    const MemoryBlock block = resource.allocate(size).value();
    asm volatile("");
    return block;
}
template <class Resource>
[[gnu::noinline]] void unload_texture(Resource& resource, MemoryBlock block) {
    resource.deallocate(block);
    asm volatile("");
}
template <class Resource>
[[gnu::noinline]] void free_at_last(Resource& resource, MemoryBlock block, std::size_t alignment) {
    now(kFree);
    resource.deallocate(block, alignment);
    asm volatile("");
}

template <HardeningTier kTier>
class Scene {
public:
    void commit(InjectedBug bug, Annotate annotate) {
        guarded_.emplace(*GuardedAllocator<kTier>::create_on(
            upstream_, {.max_blocks = 1000, .annotate = annotate == Annotate::yes}));
        // The neighbours make what lies around memory in use, as in a program.
        const MemoryBlock before = guarded_->allocate(kSize).value();
        const MemoryBlock block = load_texture(*guarded_, kSize);
        const MemoryBlock behind = guarded_->allocate(kSize).value();
        if (bug != InjectedBug::leak) misuse(bug, block);
        guarded_->deallocate(before);
        guarded_->deallocate(behind);
        now(kEnd);
        guarded_.reset();
    }

private:
    // A multiple of the alignment, so that the block ends where the guard page begins.
    static constexpr std::size_t kSize = 96;

    void free(MemoryBlock block, std::size_t alignment = kDefaultAlignment) {
        free_at_last(*guarded_, block, alignment);
    }

    void misuse(InjectedBug bug, MemoryBlock block) {
        switch (bug) {
            case InjectedBug::overflow_by_one:
                write_to(block.end());
                return free(block);
            case InjectedBug::underflow_by_one:
                write_to(block.data - 1);
                return free(block);
            case InjectedBug::far_overflow:
                write_to(block.end() + 1000);
                return free(block);
            case InjectedBug::read_after_free:
                unload_texture(*guarded_, block);
                return read_from(block.data);
            case InjectedBug::write_after_free:
                unload_texture(*guarded_, block);
                return write_to(block.data + 20);
            default:
                return free_wrongly(bug, block);
        }
    }

    void free_wrongly(InjectedBug bug, MemoryBlock block) {
        switch (bug) {
            case InjectedBug::double_free:
                unload_texture(*guarded_, block);
                return free(block);
            case InjectedBug::wrong_size:
                return free({block.data, kSize / 2});
            case InjectedBug::wrong_alignment:
                return free(block, 4 * kDefaultAlignment);
            case InjectedBug::wrong_resource: {
                auto other = GuardedAllocator<kTier>::create_on(other_upstream_, {.max_blocks = 1000});
                return free_at_last(*other, block, kDefaultAlignment);
            }
            case InjectedBug::foreign_pointer: {
                alignas(kDefaultAlignment) static std::byte outside[kSize];
                free({outside, kSize});
                return guarded_->deallocate(block);
            }
            default:
                return;
        }
    }

    ReusingResource upstream_{std::size_t{1} << 20};
    ReusingResource other_upstream_{std::size_t{1} << 20};
    std::optional<GuardedAllocator<kTier>> guarded_;
};

[[noreturn]] void run_child(InjectedBug bug, HardeningTier tier, Annotate annotate, int error_output) {
    ::dup2(error_output, STDERR_FILENO);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    switch (tier) {
        case HardeningTier::off:
            Scene<HardeningTier::off>().commit(bug, annotate);
            break;
        case HardeningTier::checked:
            Scene<HardeningTier::checked>().commit(bug, annotate);
            break;
        case HardeningTier::hardened:
            Scene<HardeningTier::hardened>().commit(bug, annotate);
            break;
    }
    ::_exit(0);
}

}  // namespace

std::string output_of(InjectedBug bug, HardeningTier tier, Annotate annotate) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    EXPECT_GE(child, 0);
    if (child == 0) run_child(bug, tier, annotate, ends[1]);
    ::close(ends[1]);
    std::string output;
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::read(ends[0], buffer, sizeof(buffer))) > 0)
        output.append(buffer, static_cast<std::size_t>(count));
    ::close(ends[0]);
    int state = 0;
    EXPECT_EQ(::waitpid(child, &state, 0), child);
    if (WIFSIGNALED(state)) output += "\n@died\n";
    return output;
}

std::string_view when_noticed(InjectedBug bug, HardeningTier tier) {
    const std::string output = output_of(bug, tier, Annotate::yes);
    const std::size_t found = std::min(output.find("ouroboros: "), output.find("AddressSanitizer: "));
    if (found == std::string::npos) {
        EXPECT_EQ(output.find("@died"), std::string::npos) << "died without a report:\n" << output;
        return "no";
    }
    const std::string before(output, 0, found);
    const auto last = [&before](std::string_view stage) {
        const std::size_t place = before.rfind(stage);
        return place == std::string::npos ? 0 : place + 1;
    };
    if (last(kEnd) != 0) return "at the end";
    if (last(kFree) != 0) return "at the free";
    EXPECT_NE(last(kAccess), 0U) << output;
    return "at the access";
}

}  // namespace ouro::testing_support
