// Reads two states of an input block, each the bytes of a file, as a program does that samples it twice;
// prints what the second sample tells as one JSON object.
#include <ouro/ecs/input_block.hpp>

#include <array>
#include <cstdio>

namespace {

using Bytes = std::array<std::byte, sizeof(ouro::InputBlock)>;

bool read_file(const char* path, Bytes& bytes) {
    std::FILE* const file = std::fopen(path, "rb");
    if (file == nullptr) return false;
    const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
    return count == bytes.size();
}

}  // namespace

int main(int argc, char** argv) {
    alignas(ouro::kInputBlockAlignment) static Bytes memory;
    static ouro::InputState state;
    if (argc != 3 || !read_file(argv[1], memory)) return 2;
    auto reader = ouro::InputReader::attach(memory);
    if (!reader || reader->sample(state) != ouro::Status::ok) return 1;
    if (!read_file(argv[2], memory) || reader->sample(state) != ouro::Status::ok) return 1;
    std::printf("{\"down\": [");
    const char* comma = "";
    for (unsigned key = 0; key < ouro::kInputKeys; ++key) {
        if (!state.is_down(key) && !state.was_pressed(key) && !state.was_released(key)) continue;
        std::printf("%s[%u, %d, %d, %d]", comma, key, state.is_down(key), state.was_pressed(key),
                    state.was_released(key));
        comma = ", ";
    }
    std::array<char, 4 * ouro::kInputTextLimit> text;
    const std::string_view typed = state.typed_utf8(text);
    std::printf("], \"at\": [%g, %g], \"moved\": [%g, %g], \"buttons\": [%u, %u], \"text\": \"%.*s\", ",
                static_cast<double>(state.mouse.x), static_cast<double>(state.mouse.y),
                static_cast<double>(state.mouse.moved_x), static_cast<double>(state.mouse.wheel_y),
                unsigned{state.mouse.down}, unsigned{state.mouse.pressed}, static_cast<int>(typed.size()),
                typed.data());
    const ouro::InputGamepad& pad = state.gamepads[3];
    std::printf("\"pad\": [%u, %u, %g]}\n", pad.is_connected, pad.down, static_cast<double>(pad.axes[7]));
    return 0;
}
