#include <ouro/base/hash.hpp>
#include <ouro/base/status.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstdio>
#include <cstring>

namespace {

int fail(const char* step, ouro::Status status) {
    const auto text = ouro::status_text(status);
    std::fprintf(stderr, "%s: %.*s\n", step, static_cast<int>(text.size()), text.data());
    return 1;
}

}  // namespace

int main() {
    const auto block = ouro::os::reserve({.bytes = ouro::os::page_size()});
    if (!block) return fail("reserve", block.status());
    if (const auto done = ouro::os::commit(*block); !done) return fail("commit", done.status());
    std::memset(block->data, 7, block->size);
    if (block->data[block->size - 1] != std::byte{7}) return fail("write", ouro::Status::ok);
    if (const auto done = ouro::os::release(*block); !done) return fail("release", done.status());
    std::puts("the installed library works");
    return 0;
}
