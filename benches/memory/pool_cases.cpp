#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "memory/memory_suite.hpp"
#include "memory/pool_loads.hpp"
#include "memory/pool_peers.hpp"

#include <ouro/memory/pool.hpp>
#include <ouro/memory/pool_allocator.hpp>

#include <memory>
#include <memory_resource>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace ouro::bench {
namespace {

// Made and destroyed out of sight, so that the compiler knows that nobody changes the pointer to the pool.
template <class Pool>
class OurPool {
public:
    explicit OurPool(std::size_t bytes) : bytes_(bytes), pool_(make(bytes)) {}
    ~OurPool() { destroy(pool_); }
    OurPool(const OurPool&) = delete;
    OurPool& operator=(const OurPool&) = delete;

    [[nodiscard]] std::uint64_t held_bytes() const { return pool_->stats().committed_bytes + sizeof(Pool); }

protected:
    [[gnu::noinline]] static Pool* make(std::size_t bytes) {
        return new Pool(must(Pool::create({.block_bytes = bytes, .max_blocks = 100'000}), "make a pool"));
    }
    [[gnu::noinline]] static void destroy(Pool* pool) { delete pool; }

    std::size_t bytes_;
    Pool* pool_;
};

// By the pool's own functions, which know the size.
template <class Pool>
struct NativePool : OurPool<Pool> {
    using OurPool<Pool>::OurPool;
    [[nodiscard]] void* take() { return this->pool_->allocate_block()->data; }
    void give(void* object) { this->pool_->deallocate_block(object); }
};

// By the contract, on the pool's own type.
template <class Pool>
struct ContractPool : OurPool<Pool> {
    using OurPool<Pool>::OurPool;
    [[nodiscard]] void* take() { return this->pool_->allocate(this->bytes_, 16)->data; }
    void give(void* object) { this->pool_->deallocate({static_cast<std::byte*>(object), this->bytes_}, 16); }
};

// By the contract, through virtual calls.
struct VirtualPool : OurPool<PoolAllocator> {
    using OurPool<PoolAllocator>::OurPool;
    [[nodiscard]] MemoryResource& resource() { return *pool_; }
    [[nodiscard]] void* take() {
        MemoryResource* resource_seen = &resource();
        keep(resource_seen);
        return resource_seen->allocate(bytes_, 16)->data;
    }
    void give(void* object) {
        MemoryResource* resource_seen = &resource();
        keep(resource_seen);
        resource_seen->deallocate({static_cast<std::byte*>(object), bytes_}, 16);
    }
};

class CountedUpstream final : public std::pmr::memory_resource {
public:
    [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        held_bytes_ += bytes;
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::uint64_t held_bytes_ = 0;
};

class PmrPool {
public:
    explicit PmrPool(std::size_t bytes)
        : bytes_(bytes),
          upstream_(std::make_unique<CountedUpstream>()),
          pool_(std::make_unique<std::pmr::unsynchronized_pool_resource>(upstream_.get())) {}
    [[nodiscard]] void* take() { return pool_->allocate(bytes_, 16); }
    void give(void* object) { pool_->deallocate(object, bytes_, 16); }
    [[nodiscard]] std::uint64_t held_bytes() const { return upstream_->held_bytes(); }

private:
    std::size_t bytes_;
    std::unique_ptr<CountedUpstream> upstream_;
    std::unique_ptr<std::pmr::unsynchronized_pool_resource> pool_;
};

constexpr char kStandardPool[] = "pmr::unsync_pool";

void add_peers(Case& measured, const std::vector<PoolPeer>& peers, Work PoolLoads::* load,
               const std::optional<Bar>& against_standard = {}) {
    for (const PoolPeer& peer : peers) {
        if (peer.is_here()) {
            measured.peer(peer.name, peer.version, peer.loads.*load,
                          peer.name == kStandardPool ? against_standard : std::nullopt);
        } else {
            measured.missing_peer(peer.name, "its headers and library in the folder of --peers");
        }
    }
}

template <class Pool>
PoolLoads loads_of(std::size_t bytes, const ChurnOrder& order) {
    return pool_loads([bytes] { return Pool(bytes); }, order);
}

// Not a pool: a place in an array that goes up and down, in a register. What is left is the loop.
class NoPool {
public:
    explicit NoPool(std::size_t bytes) : bytes_(bytes), memory_(make(bytes)) {}
    ~NoPool() { ::operator delete(memory_); }
    NoPool(const NoPool&) = delete;
    NoPool& operator=(const NoPool&) = delete;
    [[nodiscard]] void* take() { return memory_ + bytes_ * used_++; }
    void give(void*) { --used_; }
    [[nodiscard]] std::uint64_t held_bytes() const { return bytes_ * kLifoBatch; }

private:
    [[gnu::noinline]] static std::byte* make(std::size_t bytes) {
        return static_cast<std::byte*>(::operator new(bytes * kLifoBatch));
    }

    std::size_t bytes_;
    std::size_t used_ = 0;
    std::byte* memory_;
};

// Objects with handles, by their pointers.
class OurObjects {
public:
    OurObjects() : pool_(make()) {}
    ~OurObjects() { destroy(pool_); }
    OurObjects(const OurObjects&) = delete;
    OurObjects& operator=(const OurObjects&) = delete;
    [[nodiscard]] void* take() { return *pool_->make(); }
    void give(void* object) { pool_->destroy(static_cast<PooledObject*>(object)); }
    [[nodiscard]] std::uint64_t held_bytes() const {
        return pool_->stats().committed_bytes + sizeof(Pool<PooledObject>);
    }

private:
    [[gnu::noinline]] static Pool<PooledObject>* make() {
        return new Pool<PooledObject>(
            must(Pool<PooledObject>::create({.max_objects = 100'000}), "make a pool"));
    }
    [[gnu::noinline]] static void destroy(Pool<PooledObject>* pool) { delete pool; }

    Pool<PooledObject>* pool_;
};

// Ours for one thread, as all the peers are, with the bar; then the other ways there are to call a pool,
// beside the best of the peers, and never slower than the standard library's.
void measure_load(Session& session, const std::string& name, std::size_t bytes, const ChurnOrder& order,
                  Work PoolLoads::* load) {
    const std::vector<PoolPeer> peers{boost_pool(bytes, order), foonathan_pool(bytes, order),
                                      pmr_pool(bytes, order)};
    const std::string label = "pool: " + name + " " + std::to_string(bytes) + " B";
    auto local = session.measure(label, kNanoseconds);
    local.ours(loads_of<NativePool<LocalPoolAllocator>>(bytes, order).*load).bar(ratio_at_most(0.8));
    if (load == &PoolLoads::lifo) local.bound("the loop alone", loads_of<NoPool>(bytes, order).lifo);
    add_peers(local, peers, load);
    local.run();
    const auto beside_best = [&](const std::string& how, Work work) {
        auto other = session.measure(label + ", " + how, kNanoseconds);
        other.ours(std::move(work)).against_the_best({kStandardPool});
        add_peers(other, peers, load, ratio_at_most(1.0));
        other.run();
    };
    beside_best("any thread", loads_of<NativePool<PoolAllocator>>(bytes, order).*load);
    beside_best("contract", loads_of<ContractPool<PoolAllocator>>(bytes, order).*load);
    beside_best("virtual", loads_of<VirtualPool>(bytes, order).*load);
}

}  // namespace

PoolPeer pmr_pool(std::size_t bytes, const ChurnOrder& order) {
    return {kStandardPool, standard_library_version(), loads_of<PmrPool>(bytes, order)};
}

void measure_pools(Session& session) {
    const ChurnOrder order;
    for (const std::size_t bytes : {std::size_t{16}, std::size_t{64}, std::size_t{256}}) {
        measure_load(session, "LIFO", bytes, order, &PoolLoads::lifo);
        measure_load(session, "churn", bytes, order, &PoolLoads::churn);
    }
    // Boost frees in order of addresses, which takes linear time in any other order than this.
    const PoolPeer objects = boost_object_pool(order);
    session.measure("pool: typed objects, LIFO 64 B", kNanoseconds)
        .ours(lifo_work([] { return OurObjects(); }))
        .peer(objects.name, objects.version, objects.loads.lifo)
        .note("ours keeps a generation an object, for handles")
        .run();
}

}  // namespace ouro::bench
