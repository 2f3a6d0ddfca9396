// A level is read from files that are larger than what becomes of them. What stays grows from the front of
// one range, the files from its back, and only both together must fit.
#include <ouro/memory/two_ended_stack.hpp>

#include <cstdio>
#include <cstring>

namespace {

constexpr std::size_t kFileBytes = 700'000;
constexpr std::size_t kMeshBytes = 80'000;
constexpr int kMeshes = 10;

// The bytes of the mesh, of which the file has more.
bool load_mesh(ouro::TwoEndedStack& memory, int number) {
    const ouro::TwoEndedStack::Scope scope(memory.back());
    const auto file = memory.back().allocate(kFileBytes);
    const auto mesh = memory.front().allocate(kMeshBytes);
    if (!file || !mesh) return false;
    std::memset(file->data, number, file->size);
    std::memcpy(mesh->data, file->data, kMeshBytes);
    return true;
}  // the file is gone, the mesh stays

}  // namespace

int main() {
    auto memory = ouro::TwoEndedStack::create({.name = "level", .max_bytes = std::size_t{2} << 20});
    if (!memory) return 1;
    const auto start = memory->front().mark();
    for (int number = 0; number < kMeshes; ++number) {
        if (!load_mesh(*memory, number)) return 1;
    }
    const std::size_t kept = memory->front().stats().live_bytes;
    const std::size_t files = memory->back().stats().live_bytes;
    std::printf("%d meshes in %zu bytes at the front; %zu bytes of files at the back, where were %zu\n",
                kMeshes, kept, files, memory->back().stats().peak_bytes);

    // Reading all files at once would not fit: the ends would meet, and it says so.
    const auto too_much = memory->back().allocate(kFileBytes * 2);
    std::printf("two files at once: %s\n", ouro::status_name(too_much.status()).data());

    memory->front().pop_to(start);  // the level ends
    const bool right = kept == kMeshes * kMeshBytes && files == 0 && !too_much;
    return right && memory->front().stats().live_blocks == 0 && memory->check() == ouro::Status::ok ? 0 : 1;
}
