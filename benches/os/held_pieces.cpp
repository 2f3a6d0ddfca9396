#include "os/held_pieces.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace ouro::bench {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMost = std::size_t{2} << 30;

std::size_t wanted_bytes() {
    std::ifstream file("/proc/buddyinfo");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return std::clamp(bytes_in_pieces(text), kPage, kMost);
}

}  // namespace

std::size_t bytes_in_pieces(const std::string& buddyinfo) {
    constexpr unsigned kSmallOrders = 9;
    std::istringstream lines(buddyinfo);
    std::size_t bytes = 0;
    for (std::string line; std::getline(lines, line);) {
        // "Node 0, zone   Normal   12   34 ...": how many pieces of one page, of two, of four and so on.
        std::istringstream words(line);
        std::string word;
        for (unsigned i = 0; i < 4; ++i)
            words >> word;
        std::size_t count = 0;
        for (unsigned order = 0; order < kSmallOrders && words >> count; ++order)
            bytes += count * (kPage << order);
    }
    return bytes;
}

HeldPieces::HeldPieces() : pieces_(wanted_bytes()) {
    forbid_huge_pages(pieces_.block());
    touch(pieces_.block(), kPage);
}

}  // namespace ouro::bench
