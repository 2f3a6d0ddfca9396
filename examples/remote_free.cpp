// Messages allocated by one thread and freed by another. The pool has room for a hundred; ten thousand go
// through it, because what the reader frees comes back to the writer without a lock.
#include <ouro/memory/collections/spsc_ring.hpp>
#include <ouro/memory/pool_allocator.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/os/thread.hpp>

#include <cstdio>

namespace {

constexpr int kMessages = 10'000;

struct Message {
    int number;
};

struct Desk {
    ouro::PoolAllocator& pool;
    ouro::SpscRing<Message*>& tray;
    long sum = 0;
};

void read_messages(void* argument) {
    auto& desk = *static_cast<Desk*>(argument);
    for (int i = 0; i < kMessages; ++i) {
        auto message = desk.tray.pop();
        for (; !message; message = desk.tray.pop())
            ouro::os::yield_thread();
        desk.sum += (*message)->number;
        desk.pool.deallocate_block(*message);
    }
}

}  // namespace

int main() {
    auto pool = ouro::PoolAllocator::create({.block_bytes = sizeof(Message), .max_blocks = 100});
    auto system = ouro::SystemAllocator::create({});
    if (!pool || !system) return 1;
    auto tray = ouro::SpscRing<Message*>::create(*system, 100);
    if (!tray) return 1;
    Desk desk{.pool = *pool, .tray = *tray};
    auto reader = ouro::os::Thread::start(read_messages, &desk, {.name = "reader"});
    if (!reader) return 1;
    for (int i = 0; i < kMessages; ++i) {
        auto block = pool->allocate_block();
        for (; !block; block = pool->allocate_block())
            ouro::os::yield_thread();
        Message* const message = ::new (block->data) Message{i};
        while (desk.tray.push(message) != ouro::Status::ok)
            ouro::os::yield_thread();
    }
    reader->join();

    const auto stats = pool->pool_stats();
    std::printf("%llu freed by the reader, %llu blocks ever used, hit rate %.3f, sum %ld\n",
                static_cast<unsigned long long>(stats.remote_frees),
                static_cast<unsigned long long>(stats.fresh), stats.hit_rate(), desk.sum);
    const bool all_back = pool->live_blocks() == 0 && pool->check() == ouro::Status::ok;
    return all_back && stats.remote_frees == kMessages && desk.sum == 49'995'000 ? 0 : 1;
}
