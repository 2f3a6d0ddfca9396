// Links stored as offsets from a base that is named at each use: the bytes can be copied to another address,
// saved, or sent, and the list is still a list.
#include <ouro/base/offset_ptr.hpp>

#include <cstdio>
#include <cstring>

struct Node {
    std::uint32_t value;
    ouro::OffsetPtr<Node> next;
};

// Byte 0 belongs to a header: offset 0 is null.
struct Arena {
    alignas(Node) std::byte bytes[1024] = {};
    std::uint32_t used = sizeof(Node);

    ouro::OffsetBase base() { return {bytes, sizeof(bytes)}; }
    ouro::OffsetPtr<Node> push(std::uint32_t value, ouro::OffsetPtr<Node> next) {
        const auto node = ouro::OffsetPtr<Node>::from_offset(used);
        *node.in(base()) = {value, next};
        used += sizeof(Node);
        return node;
    }
};

int main() {
    Arena first;
    ouro::OffsetPtr<Node> head;
    for (std::uint32_t value = 1; value <= 5; ++value)
        head = first.push(value, head);

    Arena second;
    std::memcpy(second.bytes, first.bytes, sizeof(first.bytes));
    std::memset(first.bytes, 0xFF, sizeof(first.bytes));

    std::uint32_t sum = 0;
    for (auto node = head; node; node = node.in(second.base())->next)
        sum += node.in(second.base())->value;
    std::printf("the moved list sums to %u\n", sum);
    return sum == 15 ? 0 : 1;
}
