// ouro_write_layout <folder>: writes what a world is in an image for those who do not speak C++.
// ouro_write_layout --check <folder>: fails when what is there is not what this program would write.
#include "layout_tables.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace {

struct Output {
    std::string name;
    std::string text;
};

bool check(const std::string& path, const std::string& text) {
    std::ifstream file(path, std::ios::binary);
    const std::string found((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (file && found == text) return true;
    std::cerr << path << " is not what the structures of C++ are: write it again with ouro_write_layout\n";
    return false;
}

bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (file) return true;
    std::cerr << path << " cannot be written\n";
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    const bool checks = argc == 3 && std::string(argv[1]) == "--check";
    if (!checks && argc != 2) {
        std::cerr << "usage: ouro_write_layout [--check] <folder>\n";
        return 2;
    }
    const std::string folder = argv[argc - 1];
    const ouro::Layout layout = ouro::world_layout();
    const std::vector<Output> outputs = {{"ecs_layout.json", ouro::layout_json(layout)},
                                         {"ecs_layout.ts", ouro::layout_script(layout, true)},
                                         {"ecs_layout.mjs", ouro::layout_script(layout, false)}};
    bool is_good = true;
    for (const Output& output : outputs) {
        const std::string path = folder + "/" + output.name;
        is_good = (checks ? check(path, output.text) : write(path, output.text)) && is_good;
    }
    return is_good ? 0 : 1;
}
