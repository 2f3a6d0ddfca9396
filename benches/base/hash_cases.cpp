#include "base/base_suite.hpp"
#include "base/xxhash_peer.hpp"
#include "harness/case.hpp"

#include <ouro/base/hash.hpp>

#include <string>
#include <vector>

namespace ouro::bench {
namespace {

struct HashCase {
    std::string name;
    std::size_t bytes;
    std::optional<Bar> bar;
};

// The library as the system or --peers has it, which may choose its vector kernel at run time as ours does.
void add_library(Case& hash, const PeerLibrary& library, const void* data, std::size_t size) {
    auto* hash_with_seed =
        library.function<std::uint64_t(const void*, std::size_t, std::uint64_t)>("XXH3_64bits_withSeed");
    auto* version = library.function<unsigned()>("XXH_versionNumber");
    if (hash_with_seed == nullptr || version == nullptr) {
        hash.missing_peer("libxxhash.so", "install libxxhash0, or give --peers a folder with libxxhash.so");
        return;
    }
    hash.peer("libxxhash.so", xxhash_version_text(version()),
              repeat([=](std::uint64_t i) { return hash_with_seed(data, size, i); }));
}

}  // namespace

void measure_hashes(Session& session) {
    const PeerLibrary library = session.peers().load("xxhash", "0");
    const std::size_t large = session.sized(std::size_t{64} << 20, std::size_t{1} << 20);
    std::vector<std::uint64_t> words(large / sizeof(std::uint64_t));
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = mix_bits(i);
    // Small inputs pay for choosing the kernel at run time, and for a call that xxHash's header inlines.
    const HashCase cases[] = {
        {"hash_bytes, 8 bytes", 8, {}},
        {"hash_bytes, 64 bytes", 64, {}},
        {"hash_bytes, 256 bytes", 256, {}},
        {"hash_bytes, 4 KiB", 4096, ratio_at_most(1.05)},
        {"hash_bytes, " + size_name(large), large, ratio_at_most(1.05)},
    };
    for (const HashCase& wanted : cases) {
        const void* data = words.data();
        const std::size_t size = wanted.bytes;
        Case hash = session.measure(wanted.name, size < large ? kNanoseconds : kMicroseconds);
        hash.ours(repeat([=](std::uint64_t i) { return hash_bytes(data, size, i); }))
            .peer("xxhash.h, inlined", xxhash_header_version(), inlined_xxh3(data, size));
        add_library(hash, library, data, size);
        if (wanted.bar) hash.bar(*wanted.bar);
        hash.run();
    }
}

}  // namespace ouro::bench
