#include <ouro/base/align.hpp>
#include <ouro/memory/node_replicas.hpp>
#include <ouro/memory/seal.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ouro {

Expected<NodeReplicas> NodeReplicas::create(std::span<const std::byte> bytes, const Options& options,
                                            const Nodes& nodes) noexcept {
    if (bytes.empty()) return Status::zero_size;
    if (const Status growth = check_unsealed(); growth != Status::ok) return growth;
    const unsigned node_count = std::clamp(nodes.count(), 1U, kMaxNodes);
    const auto stride = checked_align_up(bytes.size(), os::page_size());
    if (!stride) return stride.status();
    const auto whole = checked_multiply(*stride, std::size_t{node_count});
    if (!whole) return whole.status();
    auto memory = os::Reservation::create({.bytes = *whole});
    if (!memory) return memory.status();

    NodeReplicas made;
    made.memory_ = *std::move(memory);
    made.bytes_ = bytes.size();
    made.stride_bytes_ = *stride;
    made.current_ = nodes.current;
    if (const auto ready = made.memory_.commit(0, *stride); !ready) return ready.status();
    if (node_count > 1) {
        const Status bound = made.bind_copies(node_count, nodes.bind);
        if (bound != Status::ok) return bound;
    }
    const MemoryBlock used{made.memory_.block().data, made.count_ * *stride};
    // Memory that a node does not have is told now, and not by a fault in the middle of a copy.
    if (const auto filled = os::prefault(used); !filled) return filled.status();
    made.listing_ = BlockRegistration({.name = options.name,
                                       .tag = options.tag,
                                       .base = used.data,
                                       .reserved_bytes = *whole,
                                       .committed_bytes = used.size});
    made.listing_.update(used.size, used.size, used.size);
    (void)made.update(0, bytes);
    return made;
}

// Before anything is touched, so that every page comes from where it shall. The copies lie one behind the
// other; a node that takes none leaves its place to the next.
Status NodeReplicas::bind_copies(unsigned nodes, Bind bind) noexcept {
    unsigned copies = 0;
    for (unsigned node = 0; node < nodes; ++node) {
        const MemoryBlock place = memory_.block().sub(copies * stride_bytes_, stride_bytes_);
        if (const auto ready = os::commit(place); !ready) return ready.status();
        const auto bound = bind(place, node);
        if (bound) {
            copies_[node] = static_cast<std::uint8_t>(copies++);
        } else {
            reason_ = bound.status();
        }
    }
    // Without any there is still one to read.
    count_ = std::max(copies, 1U);
    return Status::ok;
}

void NodeReplicas::ask_node() const noexcept {
    detail::t_node_note = {std::min(current_(), kMaxNodes - 1), kUsesOfNote};
}

Status NodeReplicas::update(std::size_t offset, std::span<const std::byte> bytes) noexcept {
    if (offset > bytes_ || bytes.size() > bytes_ - offset) return Status::out_of_range;
    if (bytes.empty()) return Status::ok;
    for (unsigned copy = 0; copy < count_; ++copy)
        std::memcpy(memory_.block().data + copy * stride_bytes_ + offset, bytes.data(), bytes.size());
    return Status::ok;
}

}  // namespace ouro
