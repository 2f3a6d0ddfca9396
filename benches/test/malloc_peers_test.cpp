#include "memory/malloc_peers.hpp"

#include "memory/heaps.hpp"
#include "memory/object_checks.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace ouro::bench {
namespace {

class MallocPeersTest : public testing::Test {
protected:
    MallocPeers peers_ = find_malloc_peers(PeerFolder());
};

TEST_F(MallocPeersTest, TheSystemsComesFirstAndIsTheProcesssOwn) {
    ASSERT_FALSE(peers_.found.empty());
    EXPECT_EQ(peers_.found[0].name, kSystemMalloc);
    EXPECT_EQ(peers_.found[0].allocate, &std::malloc);
    EXPECT_FALSE(peers_.found[0].version.empty());
}

TEST_F(MallocPeersTest, EachIsThereOrSaysHowToGetIt) {
    std::set<std::string> names;
    for (const MallocPeer& peer : peers_.found)
        EXPECT_TRUE(names.insert(peer.name).second) << peer.name;
    for (const MissingPeer& peer : peers_.missing) {
        EXPECT_TRUE(names.insert(peer.name).second) << peer.name;
        EXPECT_FALSE(peer.how_to_get_it.empty()) << peer.name;
    }
    for (const char* name :
         {"mimalloc", "mimalloc3", "jemalloc", "tcmalloc", "google tcmalloc", "TBB", "rpmalloc", "snmalloc"})
        EXPECT_TRUE(names.contains(name)) << name;
}

bool has(const MallocPeers& peers, const std::string& name) {
    return std::any_of(peers.found.begin(), peers.found.end(),
                       [&](const MallocPeer& peer) { return peer.name == name; });
}

// Two allocators share the name of a file: that of gperftools is not taken for the other.
TEST_F(MallocPeersTest, GooglesTcmallocIsKnownByItsFunctions) {
    const auto folder = std::filesystem::path(testing::TempDir()) / "ouro_peers_test";
    std::filesystem::create_directories(folder);
    const auto file = folder / "libtcmalloc.so";
    std::filesystem::copy_file(OURO_STAND_IN_TCMALLOC, file,
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_TRUE(has(find_malloc_peers(PeerFolder(folder)), "google tcmalloc"));
    EXPECT_FALSE(has(peers_, "google tcmalloc")) << "the system's is another";
    std::filesystem::remove_all(folder);
}

TEST_F(MallocPeersTest, NoneReplacesTheProcesssMalloc) {
    EXPECT_EQ(::dlsym(RTLD_DEFAULT, "malloc"), reinterpret_cast<void*>(&std::malloc));
    std::set<void* (*)(std::size_t)> functions;
    for (const MallocPeer& peer : peers_.found)
        EXPECT_TRUE(functions.insert(peer.allocate).second) << peer.name << " is another one's malloc";
}

TEST_F(MallocPeersTest, EachHandsOutObjectsOfItsOwnAndTakesThemBackOnAnotherThread) {
    constexpr std::size_t kSize = 48;
    for (const MallocPeer& peer : peers_.found) {
        SCOPED_TRACE(peer.name);
        const MallocHeap heap(peer);
        heap.begin_thread();
        std::vector<void*> objects(1'000);
        for (void*& object : objects)
            stamp(object = heap.allocate(kSize));
        EXPECT_EQ(count_sound(objects, kSize), objects.size());
        std::thread([&] {
            heap.begin_thread();
            for (void* object : objects)
                heap.free(object, kSize);
        }).join();
    }
}

TEST(MallocOf, ALibraryWithoutAMallocOfItsOwnIsNoAllocator) {
    const PeerLibrary library = PeerFolder().load("m", "6");
    ASSERT_TRUE(library.is_loaded());
    EXPECT_FALSE(malloc_of(library, "m", "1", "malloc", "free").has_value());
    EXPECT_FALSE(malloc_of(library, "m", "1", "no_such_function", "free").has_value());
    EXPECT_FALSE(malloc_of(PeerLibrary(), "none", "1", "malloc", "free").has_value());
}

TEST(ObjectChecks, CountOnlyWhatWasPromised) {
    alignas(16) std::byte memory[256] = {};
    std::vector<void*> objects{memory, memory + 64, memory + 128};
    for (void* object : objects)
        stamp(object);
    EXPECT_EQ(count_sound(objects, 64), 3U);
    EXPECT_EQ(count_sound(objects, 65), 1U) << "the first two overlap their followers";
    memory[64] = ~memory[64];
    EXPECT_EQ(count_sound(objects, 64), 2U) << "one was overwritten";
    EXPECT_EQ(count_sound({memory, memory}, 64), 1U) << "handed out twice";
}

TEST(ObjectChecks, SizesStayWithinTheirLimits) {
    Lottery lottery(1);
    std::size_t least = 1'000'000;
    std::size_t most = 0;
    for (int i = 0; i < 10'000; ++i) {
        const std::size_t size = lottery.size_between(16, 256);
        least = std::min(least, size);
        most = std::max(most, size);
    }
    EXPECT_EQ(least, 16U);
    EXPECT_LE(most, 256U);
    EXPECT_GT(most, 240U);
}

}  // namespace
}  // namespace ouro::bench
