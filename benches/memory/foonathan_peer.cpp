#include "memory/pool_peers.hpp"

#include <memory>
#include <new>
#include <type_traits>

#include <foonathan/memory/memory_pool.hpp>

namespace ouro::bench {
namespace {

// Where the peer gets its memory, counted; one pool at a time is alive.
struct CountedMemory {
    using is_stateful = std::false_type;
    static inline std::uint64_t held_bytes = 0;

    static void* allocate_node(std::size_t bytes, std::size_t alignment) {
        held_bytes += bytes;
        return ::operator new(bytes, std::align_val_t(alignment));
    }
    static void deallocate_node(void* node, std::size_t, std::size_t alignment) noexcept {
        ::operator delete(node, std::align_val_t(alignment));
    }
};

class FoonathanPool {
    using Pool = foonathan::memory::memory_pool<foonathan::memory::node_pool, CountedMemory>;

public:
    explicit FoonathanPool(std::size_t bytes) {
        CountedMemory::held_bytes = 0;
        pool_ = std::make_unique<Pool>(bytes, std::size_t{64} << 10);
    }
    [[nodiscard]] void* take() { return pool_->allocate_node(); }
    void give(void* object) { pool_->deallocate_node(object); }
    [[nodiscard]] static std::uint64_t held_bytes() { return CountedMemory::held_bytes; }

private:
    std::unique_ptr<Pool> pool_;
};

}  // namespace

PoolPeer foonathan_pool(std::size_t bytes, const ChurnOrder& order) {
    return {"foonathan pool", OURO_FOONATHAN_VERSION,
            pool_loads([bytes] { return FoonathanPool(bytes); }, order)};
}

}  // namespace ouro::bench
