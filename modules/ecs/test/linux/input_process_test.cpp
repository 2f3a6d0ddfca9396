// Input from another process, which may die whenever it likes.
#include "input_pattern.hpp"

#include <ouro/ecs/input_block.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/os/thread.hpp>

#include <csignal>
#include <cstdint>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using ouro::InputReader;
using ouro::InputRecord;
using ouro::InputState;
using ouro::InputWriter;
using ouro::Status;
using ouro::testing_support::is_whole;
using ouro::testing_support::write_pattern;
namespace os = ouro::os;

constexpr unsigned kChildSeconds = 60;

// Publishes until it is killed.
[[noreturn]] void write_for_ever(const os::MemoryObject& object) {
    ::alarm(kChildSeconds);
    auto mapping = object.map({.bytes = object.size()});
    if (!mapping) ::_exit(1);
    auto writer = InputWriter::create(mapping->block());
    if (!writer) ::_exit(2);
    for (std::uint32_t number = 1;; ++number)
        write_pattern(*writer, number);
}

void wait_for_writer(const InputReader& reader, std::uint32_t least) {
    InputRecord record{};
    while (reader.read(record) != Status::ok || record.text_total < least)
        os::yield_thread();
}

TEST(InputProcess, AReaderSeesWholeInputOfAWriterThatIsKilled) {
    const auto object = os::MemoryObject::create(os::page_size(), "input");
    ASSERT_TRUE(object);
    const auto read_only = object->map({.bytes = object->size(), .protection = os::Protection::read});
    const auto writable = object->map({.bytes = object->size()});
    ASSERT_TRUE(read_only && writable);
    for (std::uint32_t round = 0; round < 20; ++round) {
        ASSERT_TRUE(InputWriter::create(writable->block()));
        auto reader = InputReader::attach(read_only->block().bytes());
        ASSERT_TRUE(reader);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) write_for_ever(*object);
        wait_for_writer(*reader, 1 + round * 10);
        for (int copy = 0; copy < 200; ++copy) {
            InputRecord record;
            if (reader->read(record) != Status::ok) continue;
            ASSERT_TRUE(is_whole(record)) << record.text_total;
        }
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        ASSERT_EQ(::waitpid(child, nullptr, 0), child);
        // It ended in the middle of a write, or between two.
        InputRecord record;
        const Status status = reader->read(record);
        ASSERT_TRUE(status == Status::busy || (status == Status::ok && is_whole(record)));
        auto next = InputWriter::take_over(writable->block());
        ASSERT_TRUE(next);
        InputState state{};
        ASSERT_EQ(reader->sample(state), Status::ok);
        EXPECT_FALSE(state.is_down(0));
        next->key(0, true);
        next->publish();
        ASSERT_EQ(reader->sample(state), Status::ok);
        EXPECT_TRUE(state.was_pressed(0));
    }
}

}  // namespace
