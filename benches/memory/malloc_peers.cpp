#include "memory/malloc_peers.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <dlfcn.h>

namespace ouro::bench {
namespace {

constexpr char kUnknown[] = "(version unknown)";
constexpr char kByPeersFolder[] = "build it and name its folder with --peers";

// What a library has to be asked besides its functions.
struct KnownLibrary {
    const char* peer;
    const char* file;
    const char* interface_number;
    const char* allocate;
    const char* free;
    std::string (*version)(const PeerLibrary& library);
    const char* how_to_get_it;
};

std::string dotted(int number) {
    return std::to_string(number / 100) + "." + std::to_string(number / 10 % 10) + "." +
           std::to_string(number % 10);
}

// Two digits a part since version 3, one before.
std::string mimalloc_version(const PeerLibrary& library) {
    auto* ask = library.function<int()>("mi_version");
    if (ask == nullptr) return kUnknown;
    const int number = ask();
    if (number < 10'000) return dotted(number);
    return std::to_string(number / 10'000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
}

std::string jemalloc_version(const PeerLibrary& library) {
    auto* control = library.function<int(const char*, void*, std::size_t*, void*, std::size_t)>("mallctl");
    const char* text = nullptr;
    std::size_t size = sizeof(text);
    if (control == nullptr || control("version", &text, &size, nullptr, 0) != 0) return kUnknown;
    const std::string version = text;
    return version.substr(0, version.find('-'));
}

std::string tcmalloc_version(const PeerLibrary& library) {
    auto* ask = library.function<const char*(int*, int*, const char**)>("tc_version");
    if (ask == nullptr) return kUnknown;
    int major = 0;
    int minor = 0;
    const char* patch = nullptr;
    ask(&major, &minor, &patch);
    return "gperftools " + std::to_string(major) + "." + std::to_string(minor);
}

// It has no function for it, but its file's name has.
std::string tbb_version(const PeerLibrary& library) {
    Dl_info place{};
    auto* known = library.function<void>("scalable_malloc");
    if (known == nullptr || ::dladdr(known, &place) == 0) return kUnknown;
    std::error_code failure;
    const std::string file = std::filesystem::canonical(place.dli_fname, failure).filename().string();
    const std::size_t number = file.find(".so.");
    return number == std::string::npos ? kUnknown : file.substr(number + 4);
}

std::string from_the_folder(const PeerLibrary& /*library*/) {
    return "(--peers)";
}

constexpr KnownLibrary kKnown[] = {
    {"mimalloc", "mimalloc", "2", "mi_malloc", "mi_free", mimalloc_version, "install libmimalloc2.0"},
    {"mimalloc3", "mimalloc", "3", "mi_malloc", "mi_free", mimalloc_version, kByPeersFolder},
    {"jemalloc", "jemalloc", "2", "malloc", "free", jemalloc_version, "install libjemalloc2"},
    {"tcmalloc", "tcmalloc_minimal", "4", "tc_malloc", "tc_free", tcmalloc_version,
     "install libtcmalloc-minimal4"},
    // Another one by the name of tcmalloc, which the same file name may be: known by its own names.
    {"google tcmalloc", "tcmalloc", "", "TCMallocInternalMalloc", "TCMallocInternalFree", from_the_folder,
     kByPeersFolder},
    {"TBB", "tbbmalloc", "2", "scalable_malloc", "scalable_free", tbb_version, "install libtbbmalloc2"},
    {"rpmalloc", "rpmalloc", "", "rpmalloc", "rpfree", from_the_folder, kByPeersFolder},
    {"snmalloc", "snmallocshim", "", "malloc", "free", from_the_folder, kByPeersFolder},
};

// Some want to be told when the process and each thread begin.
void prepare_rpmalloc(MallocPeer& peer, const PeerLibrary& library) {
    auto* initialize = library.function<int(void*)>("rpmalloc_initialize");
    if (initialize != nullptr) initialize(nullptr);
    peer.begin_thread = library.function<void()>("rpmalloc_thread_initialize");
}

std::optional<MallocPeer> load(const PeerFolder& folder, const KnownLibrary& known) {
    const PeerLibrary library = folder.load(known.file, known.interface_number);
    if (!library.is_loaded()) return {};
    auto peer = malloc_of(library, known.peer, known.version(library), known.allocate, known.free);
    if (peer && peer->name == "rpmalloc") prepare_rpmalloc(*peer, library);
    return peer;
}

bool contains(const std::vector<MallocPeer>& peers, const MallocPeer& wanted) {
    return std::any_of(peers.begin(), peers.end(),
                       [&](const MallocPeer& peer) { return peer.allocate == wanted.allocate; });
}

std::optional<MallocPeer> find_ours(const PeerFolder& folder) {
    constexpr char kName[] = "ouroboros-malloc";
    std::error_code failure;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", failure);
    const PeerFolder built(program.parent_path().parent_path() / "apps" / "malloc");
    for (const PeerFolder& place : {folder, built}) {
        auto ours = malloc_of(place.load(kName), "ouroboros-malloc", "of this tree", "malloc", "free");
        if (ours) return ours;
    }
    return {};
}

}  // namespace

std::optional<MallocPeer> malloc_of(const PeerLibrary& library, std::string name, std::string version,
                                    const char* allocate, const char* free) {
    MallocPeer peer{std::move(name), std::move(version), library.function<void*(std::size_t)>(allocate),
                    library.function<void(void*)>(free), nullptr};
    // The C library's functions come along with every library that needs it; they are not the peer's.
    const bool own = peer.allocate != &std::malloc && peer.free != &std::free;
    if (peer.allocate == nullptr || peer.free == nullptr || !own) return {};
    return peer;
}

MallocPeers find_malloc_peers(const PeerFolder& folder) {
    MallocPeers peers;
    const std::string libc = libc_version();
    peers.found.push_back(
        {kSystemMalloc, libc.substr(libc.find(' ') + 1), &std::malloc, &std::free, nullptr});
    for (const KnownLibrary& known : kKnown) {
        auto peer = load(folder, known);
        if (peer && !contains(peers.found, *peer))
            peers.found.push_back(*std::move(peer));
        else
            peers.missing.push_back({known.peer, known.how_to_get_it});
    }
    peers.ours = find_ours(folder);
    return peers;
}

}  // namespace ouro::bench
