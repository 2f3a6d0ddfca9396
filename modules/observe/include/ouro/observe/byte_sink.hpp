#pragma once

#include <string_view>

namespace ouro {

// Where the bytes go, some hundreds at a time.
struct ByteSink {
    void (*write)(void* context, std::string_view bytes) = nullptr;
    void* context = nullptr;
};

}  // namespace ouro
