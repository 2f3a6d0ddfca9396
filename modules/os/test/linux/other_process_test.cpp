#include "child_process.hpp"

#include <ouro/os/huge_pages.hpp>
#include <ouro/os/other_process.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

namespace {

using ouro::Status;
namespace os = ouro::os;

std::uint64_t address_of(const void* place) {
    return reinterpret_cast<std::uintptr_t>(place);
}

// A copy of this process that waits until it is no longer needed.
class WaitingChild {
public:
    WaitingChild() : number_(::fork()) {
        if (number_ == 0) {
            for (;;)
                ::pause();
        }
    }
    ~WaitingChild() { end(); }
    void end() {
        if (number_ <= 0) return;
        ::kill(number_, SIGKILL);
        ::waitpid(number_, nullptr, 0);
        number_ = -1;
    }
    [[nodiscard]] std::uint32_t number() const { return static_cast<std::uint32_t>(number_); }

private:
    pid_t number_;
};

TEST(OtherProcess, ReadsWhatTheOtherHolds) {
    std::array<char, 16> text{"as it was"};
    // Nothing here reads it before it changes, but another process does.
    asm volatile("" : : "r"(text.data()) : "memory");
    WaitingChild child;
    text = {"changed here"};
    std::array<char, 16> copy{};
    ASSERT_EQ(os::read_process_memory(child.number(), address_of(text.data()),
                                      std::as_writable_bytes(std::span(copy)))
                  .status(),
              Status::ok);
    EXPECT_STREQ(copy.data(), "as it was");
}

TEST(OtherProcess, SaysWhatIsWrong) {
    std::array<std::byte, 16> target{};
    const std::uint64_t here = address_of(target.data());
    EXPECT_EQ(os::read_process_memory(os::process_id(), 0, target).status(), Status::not_mapped);
    EXPECT_EQ(os::read_process_memory(os::process_id(), std::uint64_t{1} << 62, target).status(),
              Status::not_mapped);
    WaitingChild child;
    const std::uint32_t number = child.number();
    child.end();
    EXPECT_EQ(os::read_process_memory(number, here, target).status(), Status::not_found);
    const auto go_on = [](std::string_view, void*) { return true; };
    EXPECT_EQ(os::visit_mapping_lines(number, go_on, nullptr).status(), Status::not_found);
    const auto next = [](os::PageRun, void*) { return true; };
    EXPECT_EQ(os::visit_used_pages(number, 0, os::page_size(), next, nullptr).status(), Status::not_found);
    EXPECT_EQ(os::read_process_memory(~std::uint32_t{0}, here, target).status(), Status::not_found);
}

TEST(OtherProcess, AReadThatEndsBeyondTheMappingFails) {
    auto memory = os::Reservation::create({.bytes = 2 * os::page_size()});
    ASSERT_TRUE(memory && memory->commit(0, os::page_size()));
    std::vector<std::byte> target(os::page_size() + 1);
    EXPECT_EQ(os::read_process_memory(os::process_id(), address_of(memory->block().data), target).status(),
              Status::not_mapped);
}

TEST(OtherProcess, ListsTheMappings) {
    struct Found {
        int lines = 0;
        bool has_stack = false;
    };
    Found all;
    const auto look = [](std::string_view line, void* context) {
        auto& found = *static_cast<Found*>(context);
        ++found.lines;
        found.has_stack = found.has_stack || line.ends_with("[stack]");
        return true;
    };
    ASSERT_TRUE(os::visit_mapping_lines(os::process_id(), look, &all));
    EXPECT_GT(all.lines, 3);
    EXPECT_TRUE(all.has_stack);
    int one = 0;
    const auto stop = [](std::string_view, void* context) {
        ++*static_cast<int*>(context);
        return false;
    };
    ASSERT_TRUE(os::visit_mapping_lines(os::process_id(), stop, &one));
    EXPECT_EQ(one, 1);
}

using Runs = std::vector<std::pair<std::size_t, std::size_t>>;

Runs used_pages(const os::Reservation& memory, std::size_t most = 100) {
    struct Context {
        Runs runs;
        std::size_t most;
    } context{{}, most};
    EXPECT_TRUE(os::visit_used_pages(
        os::process_id(), address_of(memory.block().data), memory.block().size,
        [](os::PageRun run, void* argument) {
            auto& found = *static_cast<Context*>(argument);
            found.runs.emplace_back(run.offset / os::page_size(), run.bytes / os::page_size());
            return found.runs.size() < found.most;
        },
        &context));
    return context.runs;
}

TEST(OtherProcess, TellsWhichPagesWereTouched) {
    // More than one reading of the kernel's answers.
    constexpr std::size_t kPages = 1500;
    auto memory = os::Reservation::create({.bytes = kPages * os::page_size()});
    ASSERT_TRUE(memory && memory->commit(0, memory->block().size));
    // Otherwise one touch could bring many pages.
    static_cast<void>(os::advise_huge(memory->block(), false));
    EXPECT_EQ(used_pages(*memory), Runs{});
    for (const std::size_t page : std::vector<std::size_t>{0, 3, 4, 511, 512, 513, 1499})
        memory->block().data[page * os::page_size()] = std::byte{1};
    EXPECT_EQ(used_pages(*memory), (Runs{{0, 1}, {3, 2}, {511, 3}, {1499, 1}}));
    EXPECT_EQ(used_pages(*memory, 2), (Runs{{0, 1}, {3, 2}}));
}

}  // namespace
