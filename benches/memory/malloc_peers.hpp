#pragma once

#include "harness/peers.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ouro::bench {

struct MemoryBook;

// A general-purpose allocator behind the interface that all of them share.
struct MallocPeer {
    std::string name;
    std::string version;
    void* (*allocate)(std::size_t size) = nullptr;
    void (*free)(void* object) = nullptr;
    // Null where a thread needs no preparation; may be called again in the same thread.
    void (*begin_thread)() = nullptr;
};

struct MissingPeer {
    std::string name;
    std::string how_to_get_it;
};

struct MallocPeers {
    // The C library's own comes first; it is always there.
    std::vector<MallocPeer> found;
    std::vector<MissingPeer> missing;
    // Ours in the same clothes: libouroboros-malloc.so from the folder of peers, else from the build tree
    // that this program belongs to.
    std::optional<MallocPeer> ours;
    // Where there is one, it has what the candidates hold in the cases.
    MemoryBook* book = nullptr;
};

inline constexpr char kSystemMalloc[] = "glibc";

// Loads them all into this process, without replacing its own malloc.
[[nodiscard]] MallocPeers find_malloc_peers(const PeerFolder& folder);

// The allocator of a library, or nothing when it lacks one of the functions.
[[nodiscard]] std::optional<MallocPeer> malloc_of(const PeerLibrary& library, std::string name,
                                                  std::string version, const char* allocate,
                                                  const char* free);

}  // namespace ouro::bench
