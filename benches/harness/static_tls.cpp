#include "harness/static_tls.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace ouro::bench {
namespace {

constexpr char kVariable[] = "GLIBC_TUNABLES";
constexpr char kTunable[] = "glibc.rtld.optional_static_tls";
constexpr int kRoomBytes = 32 * 1024;

}  // namespace

void make_room_for_loaded_libraries(char** arguments) noexcept {
    const char* before = std::getenv(kVariable);
    if (before != nullptr && std::strstr(before, kTunable) != nullptr) return;
    char value[1024];
    const int length = std::snprintf(value, sizeof(value), "%s%s%s=%d", before != nullptr ? before : "",
                                     before != nullptr ? ":" : "", kTunable, kRoomBytes);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof(value)) return;
    if (::setenv(kVariable, value, 1) != 0) return;
    ::execv("/proc/self/exe", arguments);
}

}  // namespace ouro::bench
