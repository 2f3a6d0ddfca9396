// An engine, its level, and files that are loaded straight to where they stay. Leaving the level is one step,
// and a handle that was kept too long says so.
#include <ouro/os/file_output.hpp>
#include <ouro/streams/asset_stack.hpp>

#include <array>
#include <cstdio>
#include <span>

namespace {

struct Vertex {
    float place[3];
    std::uint32_t color;
};

constexpr const char* kPath = "asset-stack-example.mesh";

bool write_mesh() {
    std::array<Vertex, 1000> vertices{};
    for (std::uint32_t i = 0; i < vertices.size(); ++i)
        vertices[i].color = i;
    auto file = ouro::os::FileOutput::create(kPath);
    return file && file->write(std::as_bytes(std::span(vertices))) && file->finish();
}

bool show_progress(const ouro::LoadProgress& progress, void*) {
    std::printf("%.*s: %llu of %llu bytes\n", static_cast<int>(progress.name.size()), progress.name.data(),
                static_cast<unsigned long long>(progress.done_bytes),
                static_cast<unsigned long long>(progress.total_bytes));
    return true;  // false would cancel, and leave the stack as it was
}

}  // namespace

int main() {
    auto table = ouro::MemoryTable::create({.name = "world"});
    if (!table || !write_mesh()) return 1;
    auto assets = ouro::AssetStack::create(*table, {.name = "assets", .max_bytes = std::size_t{64} << 20});
    if (!assets) return 1;

    const auto engine = assets->open_scope("engine");
    const auto font = assets->allocate("font", 10'000);
    const auto level = assets->open_scope("level 1");
    const auto tree = assets->load(kPath, {.name = "tree", .step_bytes = 8192, .progress = show_progress});
    const auto rock = assets->load(kPath, {.name = "rock", .way = ouro::LoadWay::map});
    std::remove(kPath);
    if (!engine || !font || !level || !tree || !rock) return 1;

    const auto vertices = assets->view<Vertex>(*rock);
    if (!vertices || vertices->size() != 1000 || (*vertices)[999].color != 999) return 1;
    std::printf("%zu assets in %zu bytes\n", assets->stats().assets, assets->stats().used_bytes);

    if (!assets->release(*level)) return 1;
    const ouro::Status stale = assets->view<Vertex>(*tree).status();
    std::printf("the level is left: %zu bytes; the tree is a %s\n", assets->stats().used_bytes,
                ouro::status_name(stale).data());
    return stale == ouro::Status::stale_handle && assets->bytes(*font) ? 0 : 1;
}
