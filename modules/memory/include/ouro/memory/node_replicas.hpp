#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/memory/block_registry.hpp>
#include <ouro/memory/tag.hpp>
#include <ouro/os/numa.hpp>
#include <ouro/os/reservation.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace ouro {

namespace detail {

// Which node a thread ran on when it last asked, and how often it may still go by that.
struct NodeNote {
    unsigned node = 0;
    std::uint32_t uses_left = 0;
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local NodeNote t_node_note;

}  // namespace detail

// Bytes that many threads read and hardly anybody writes, once for each memory node: every thread reads from
// the memory next to it. For tables, meshes and code of scripts.
//
//     auto table = NodeReplicas::create(std::as_bytes(std::span(numbers)), {.name = "prices"});
//     const auto& near = table->local_as<Prices>();      // this thread's copy
//
// On a machine with one node there is one copy, bound to nothing, and is_replicated() says so: nothing is
// gained there and nothing lost.
//
// Who may write when: any number of threads read at once. update() is for one thread while no thread reads
// and none keeps what local() gave: between two frames, or at a barrier, which also shows the readers what
// was written. To replace everything while others read, make new replicas, publish them, and end these when
// the last reader has gone on.
class NodeReplicas {
public:
    struct Options {
        const char* name = "replicas";
        Tag tag = {};
    };

    // What the copies are made with: those of the os module, or others for tests.
    struct Nodes {
        unsigned (*count)() noexcept = os::numa_node_count;
        unsigned (*current)() noexcept = os::current_numa_node;
        Expected<os::NumaOutcome> (*bind)(MemoryBlock block, unsigned node) noexcept = os::bind_to_numa_node;
    };

    // Nodes beyond these read the first copy.
    static constexpr unsigned kMaxNodes = 64;

    // Makes the copies, each in memory of its node. A node that nothing can be bound to (it has no memory, or
    // the system forbids it) reads the first copy, and reason() says why. Fails with zero_size,
    // size_overflow, sealed, and as os::reserve, os::commit and os::prefault do. The memory is bound to its
    // node strictly: where that node is full, Linux may end a process for want of memory before it tells us.
    // Where nodes run full, leave room.
    [[nodiscard]] static Expected<NodeReplicas> create(std::span<const std::byte> bytes,
                                                       const Options& options) noexcept {
        return create(bytes, options, Nodes{});
    }
    [[nodiscard]] static Expected<NodeReplicas> create(std::span<const std::byte> bytes,
                                                       const Options& options, const Nodes& nodes) noexcept;

    // This thread's copy, at the start of a page. Costs some instructions: the node is asked for now and then
    // only, so that a thread that moves to another node reads from afar for a while, and never wrongly.
    [[nodiscard]] std::span<const std::byte> local() const noexcept {
        return {memory_.block().data + local_copy() * stride_bytes_, bytes_};
    }
    // The same as what lies there. Requires: an object of the type was copied (its size is asserted).
    template <class T>
    [[nodiscard]] const T& local_as() const noexcept {
        static_assert(std::is_trivially_copyable_v<T>, "copies are made as bytes");
        OURO_DEBUG_ASSERT(sizeof(T) <= bytes_, "the copies are smaller than this");
        return *reinterpret_cast<const T*>(local().data());
    }
    // The copy that threads on a node read. Requires: node < kMaxNodes.
    [[nodiscard]] std::span<const std::byte> copy_of(unsigned node) const noexcept {
        return {memory_.block().data + copies_[node] * stride_bytes_, bytes_};
    }

    // Writes the bytes into every copy. out_of_range when they do not lie within. Requires: no thread reads
    // meanwhile; see above.
    Status update(std::size_t offset, std::span<const std::byte> bytes) noexcept;

    // The calling thread's node is asked for anew when it next needs it: for one that was just moved.
    static void forget_node_of_this_thread() noexcept { detail::t_node_note = {}; }

    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
    // How many copies there are: one on a machine with one node.
    [[nodiscard]] unsigned count() const noexcept { return count_; }
    [[nodiscard]] bool is_replicated() const noexcept { return count_ > 1; }
    // Why the last of the nodes without a copy of its own has none; ok when there is none such.
    [[nodiscard]] Status reason() const noexcept { return reason_; }

private:
    // Asking costs a system call; a thread changes its node rarely.
    static constexpr std::uint32_t kUsesOfNote = 4096;

    NodeReplicas() noexcept = default;

    [[nodiscard]] std::size_t local_copy() const noexcept {
        if (count_ == 1) return 0;
        detail::NodeNote& note = detail::t_node_note;
        if (note.uses_left == 0) [[unlikely]]
            ask_node();
        --note.uses_left;
        return copies_[note.node];
    }
    [[gnu::cold, gnu::noinline]] void ask_node() const noexcept;
    using Bind = Expected<os::NumaOutcome> (*)(MemoryBlock block, unsigned node) noexcept;
    [[nodiscard]] Status bind_copies(unsigned nodes, Bind bind) noexcept;

    os::Reservation memory_;
    std::size_t bytes_ = 0;
    // From one copy to the next.
    std::size_t stride_bytes_ = 0;
    unsigned count_ = 1;
    Status reason_ = Status::ok;
    unsigned (*current_)() noexcept = nullptr;
    // Which copy a node reads.
    std::array<std::uint8_t, kMaxNodes> copies_{};
    BlockRegistration listing_;
};

}  // namespace ouro
