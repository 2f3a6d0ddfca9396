#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace ouro::bench {

// What a shell's command prints; nothing where it cannot be started.
inline std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::string text;
    char part[256];
    while (pipe != nullptr && std::fgets(part, sizeof part, pipe.get()) != nullptr)
        text += part;
    return text;
}

}  // namespace ouro::bench
