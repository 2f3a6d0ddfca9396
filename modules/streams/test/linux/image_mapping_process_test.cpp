// A second process that reads the image of the first while that simulates.
#include <ouro/os/process_memory.hpp>
#include <ouro/streams/image_mapping.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using ouro::ImageMapping;
using ouro::Status;
namespace os = ouro::os;

constexpr unsigned kChildSeconds = 60;
constexpr std::uint64_t kTicks = 200;

// A tick number and a row of words that follow it.
constexpr std::size_t kWords = 1000;
struct World {
    std::uint64_t tick_begun;
    std::array<std::uint64_t, kWords> words;
    std::uint64_t tick_done;
};

std::uint64_t load(const std::uint64_t& word) {
    return std::atomic_ref(const_cast<std::uint64_t&>(word)).load();
}

// Reads until a tick is whole; how many ticks were, up to the last.
int watch(const ImageMapping& image) {
    const auto bytes = image.segment("world");
    if (!bytes) return 1;
    const auto* const world = reinterpret_cast<const World*>(bytes->data());
    std::uint64_t whole = 0;
    for (std::uint64_t seen = 0; seen < kTicks;) {
        const std::uint64_t done = load(world->tick_done);
        bool is_same = true;
        for (const std::uint64_t& word : world->words)
            is_same = is_same && load(word) == done;
        // Nobody began another one meanwhile.
        if (load(world->tick_begun) != done) continue;
        if (!is_same) return 2;
        if (done < seen) return 3;
        seen = done;
        ++whole;
    }
    return whole != 0 ? 0 : 4;
}

void simulate(ouro::StateRing& ring) {
    const auto block = *ring.segment_block("world");
    auto* const world = reinterpret_cast<World*>(block.data);
    for (std::uint64_t tick = 1; tick <= kTicks; ++tick) {
        std::atomic_ref(world->tick_begun).store(tick);
        for (std::uint64_t& word : world->words)
            std::atomic_ref(word).store(tick);
        std::atomic_ref(world->tick_done).store(tick);
        ASSERT_EQ(ring.mark(world, sizeof(World)), Status::ok);
        ASSERT_TRUE(ring.commit());
    }
}

// Sends a descriptor through one end of a pair of sockets and takes it out of the other.
void send_descriptor(int socket, int descriptor) {
    char byte = 'x';
    iovec data{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    ASSERT_EQ(::sendmsg(socket, &message, 0), 1);
}

int receive_descriptor(int socket) {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
    return descriptor;
}

ouro::Expected<ouro::StateRing> make_ring() {
    static constexpr std::array kSegments = {ouro::SegmentOptions{.name = "world", .bytes = 64 << 10}};
    return ouro::StateRing::create({.segments = kSegments, .history_ticks = 8});
}

int wait_for(pid_t child) {
    int state = -1;
    EXPECT_EQ(::waitpid(child, &state, 0), child);
    return state;
}

TEST(ImageMappingProcess, IsReadByItsNumberInTheOtherProcess) {
    auto ring = make_ring();
    ASSERT_TRUE(ring);
    const std::uint32_t parent = os::process_id();
    const int descriptor = ring->image_descriptor();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::alarm(kChildSeconds);
        // Its own is gone: what it sees comes from the other process.
        ::close(descriptor);
        const auto image = ImageMapping::attach_process(parent, descriptor);
        ::_exit(image ? watch(*image) : 10 + static_cast<int>(image.status()));
    }
    simulate(*ring);
    EXPECT_EQ(wait_for(child), 0);
}

TEST(ImageMappingProcess, IsReadByADescriptorOverASocket) {
    std::array<int, 2> sockets{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::alarm(kChildSeconds);
        const auto image = ImageMapping::attach(receive_descriptor(sockets[1]));
        ::_exit(image ? watch(*image) : 10 + static_cast<int>(image.status()));
    }
    auto ring = make_ring();
    ASSERT_TRUE(ring);
    send_descriptor(sockets[0], ring->image_descriptor());
    simulate(*ring);
    EXPECT_EQ(wait_for(child), 0);
    ::close(sockets[0]);
    ::close(sockets[1]);
}

TEST(ImageMappingProcess, ItsMemoryCannotBeWritten) {
    auto ring = make_ring();
    ASSERT_TRUE(ring);
    const auto image = ImageMapping::attach_process(os::process_id(), ring->image_descriptor());
    ASSERT_TRUE(image);
    EXPECT_NE(image->base().start(), ring->image().data);
    auto* const start = const_cast<std::byte*>(image->base().start());
    EXPECT_NE(::mprotect(start, image->base().size(), PROT_READ | PROT_WRITE), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::signal(SIGSEGV, SIG_DFL);
        *const_cast<volatile std::byte*>(start) = std::byte{1};
        ::_exit(0);
    }
    EXPECT_TRUE(WIFSIGNALED(wait_for(child)));
}

TEST(ImageMappingProcess, ForeignObjectsAreRefused) {
    EXPECT_EQ(ImageMapping::attach(-1).status(), Status::bad_argument);
    EXPECT_EQ(ImageMapping::attach(12'345).status(), Status::bad_argument);
    EXPECT_EQ(ImageMapping::attach_process(os::process_id(), -1).status(), Status::bad_argument);
    EXPECT_EQ(ImageMapping::attach_process(os::process_id(), 12'345).status(), Status::not_found);
    // No process has so high a number.
    EXPECT_EQ(ImageMapping::attach_process(0x7FFFFFFF, 0).status(), Status::not_found);
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(ImageMapping::attach(file).status(), Status::wrong_format);
    EXPECT_EQ(ImageMapping::attach_process(os::process_id(), file).status(), Status::wrong_format);
    ::close(file);
    const auto other = os::MemoryObject::create(1 << 20, "other");
    ASSERT_TRUE(other);
    EXPECT_EQ(ImageMapping::attach(other->descriptor()).status(), Status::wrong_format);
    // The beginning of an image in an object that is too small for the rest.
    auto ring = make_ring();
    const auto small = os::MemoryObject::create(4096, "truncated");
    ASSERT_TRUE(ring && small);
    const auto place = small->map({.bytes = small->size()});
    ASSERT_TRUE(place);
    std::memcpy(place->block().data, ring->image().data, 4096);
    EXPECT_EQ(ImageMapping::attach(small->descriptor()).status(), Status::out_of_range);
}

}  // namespace
