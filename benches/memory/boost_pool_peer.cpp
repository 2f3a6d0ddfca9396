#include "memory/pool_peers.hpp"

#include <memory>
#include <new>

#include <boost/pool/object_pool.hpp>
#include <boost/pool/pool.hpp>
#include <boost/version.hpp>

namespace ouro::bench {
namespace {

// Where the peer gets its memory, counted. The interface names no object, so the count is global; one pool at
// a time is alive.
struct CountedMemory {
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    static inline std::uint64_t held_bytes = 0;

    static char* malloc(size_type bytes) {
        held_bytes += bytes;
        return static_cast<char*>(::operator new(bytes, std::nothrow));
    }
    static void free(char* memory) { ::operator delete(memory); }
};

class BoostPool {
public:
    explicit BoostPool(std::size_t bytes) {
        CountedMemory::held_bytes = 0;
        pool_ = std::make_unique<boost::pool<CountedMemory>>(bytes);
    }
    [[nodiscard]] void* take() { return pool_->malloc(); }
    void give(void* object) { pool_->free(object); }
    [[nodiscard]] static std::uint64_t held_bytes() { return CountedMemory::held_bytes; }

private:
    std::unique_ptr<boost::pool<CountedMemory>> pool_;
};

class BoostObjects {
public:
    BoostObjects() {
        CountedMemory::held_bytes = 0;
        pool_ = std::make_unique<boost::object_pool<PooledObject, CountedMemory>>();
    }
    [[nodiscard]] void* take() { return pool_->construct(); }
    void give(void* object) { pool_->destroy(static_cast<PooledObject*>(object)); }
    [[nodiscard]] static std::uint64_t held_bytes() { return CountedMemory::held_bytes; }

private:
    std::unique_ptr<boost::object_pool<PooledObject, CountedMemory>> pool_;
};

std::string boost_version() {
    return std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1000) + "." +
           std::to_string(BOOST_VERSION % 100);
}

}  // namespace

PoolPeer boost_pool(std::size_t bytes, const ChurnOrder& order) {
    return {"boost::pool", boost_version(), pool_loads([bytes] { return BoostPool(bytes); }, order)};
}

PoolPeer boost_object_pool(const ChurnOrder& order) {
    return {"boost::object_pool", boost_version(), pool_loads([] { return BoostObjects(); }, order)};
}

}  // namespace ouro::bench
