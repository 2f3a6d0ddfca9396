// Writes the fixed hashes of the golden scenes' ticks: ecs_write_golden_ticks modules/ecs/test/golden_ticks.
// Only after a decision, with a record that says why every recorded world becomes another one.
#include "golden_ticks.hpp"
#include "scene_run.hpp"

#include <cstdio>
#include <string>

namespace {

using namespace ouro::testing_support;

constexpr std::size_t kNumbersALine = 8;

// Empty when the scene fails.
std::string ticks_of(std::size_t scene) {
    SceneRun run(scene, 0);
    std::string text;
    for (std::size_t tick = 1; tick <= kGoldenTicks; ++tick) {
        if (!run.is_ready() || !run.step() || !run.world().commit()) return {};
        char number[16];
        std::snprintf(number, sizeof(number), "0x%08x,", static_cast<unsigned>(golden_part(run.hash())));
        text += number;
        text += tick % kNumbersALine == 0 || tick == kGoldenTicks ? '\n' : ' ';
    }
    return text;
}

bool write(const std::string& path, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return false;
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && is_written;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("ecs_write_golden_ticks <folder>\n", stderr);
        return 2;
    }
    for (std::size_t scene = 0; scene < kGoldenScenes; ++scene) {
        const std::string path = std::string(arguments[1]) + "/" + golden_scene_name(scene) + ".inc";
        const std::string text = ticks_of(scene);
        if (text.empty() || !write(path, text)) {
            std::fprintf(stderr, "%s: not written\n", path.c_str());
            return 1;
        }
    }
    return 0;
}
