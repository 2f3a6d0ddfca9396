// One of everything that the debuggers' views know, for gdb to look at in stop_here() and stop_in_image().
#include <ouro/base/handle.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/ecs/entity.hpp>
#include <ouro/memory/collections/bit_flags.hpp>
#include <ouro/memory/collections/bit_set.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>
#include <ouro/memory/collections/ring_buffer.hpp>
#include <ouro/memory/collections/soa_block.hpp>
#include <ouro/memory/collections/string_interner.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>
#include <ouro/streams/sim_map.hpp>
#include <ouro/streams/sim_pool.hpp>
#include <ouro/streams/sim_set.hpp>
#include <ouro/streams/sim_string.hpp>
#include <ouro/streams/sim_vec.hpp>

enum class Trait : unsigned char { hungry, asleep, ill };

[[gnu::noinline]] void stop_here() {
    asm volatile("" ::: "memory");
}

[[gnu::noinline]] void stop_in_image() {
    asm volatile("" ::: "memory");
}

struct Person {
    ouro::FixedString<11> name;
    std::uint32_t gold;
};

struct Shop {
    ouro::SimMap<ouro::FixedString<15>, std::uint32_t> prices;
    ouro::SimSet<std::uint32_t> guests;
    ouro::SimPool<Person> people;
    ouro::SimString title;
    ouro::SimVec<int> numbers;
    ouro::OffsetPtr<Shop> next;
};

static bool fill_an_image() {
    const ouro::SegmentOptions world{.name = "world", .bytes = 1 << 20};
    auto ring = ouro::StateRing::create({.segments = {&world, 1}, .history_bytes = std::uint64_t{16} << 20});
    auto heap = ring ? ouro::ImageHeap::create(*ring, "world") : ring.status();
    const auto root = heap ? heap->make_root<Shop>("shop") : heap.status();
    if (!root) return false;
    const Shop& shop = heap->get(*root);
    heap->edit(shop).next = *root;

    const auto is_done = [](ouro::Status status) { return status == ouro::Status::ok; };
    auto prices = heap->bind(shop.prices);
    auto guests = heap->bind(shop.guests);
    auto people = heap->bind(shop.people);
    auto letters = heap->bind(shop.title);
    auto numbers = heap->bind(shop.numbers);
    bool is_full = is_done(prices.set("rope", 3)) && is_done(prices.set("torch", 5)) &&
                   is_done(prices.set("lamp", 7)) && is_done(letters.assign("a \"short\" text"));
    for (const std::uint32_t guest : {5U, 4U, 3U})
        is_full = is_full && guests.insert(guest).has_value();
    for (const int number : {7, 8, 9})
        is_full = is_full && is_done(numbers.push_back(number));
    const auto ada = people.create({.name = "Ada", .gold = 10});
    const auto gone = people.create({.name = "Bob", .gold = 10});
    ouro::Expected<ouro::SimHandle<Person>> last = people.create({.name = "Eve", .gold = 10});
    for (int count = 3; count < 18 && last; ++count)
        last = people.create({.name = "Somebody", .gold = 1});
    if (!is_full || !ada || !gone || !last) return false;
    // What is removed leaves holes.
    prices.erase("torch");
    guests.erase(4);
    people.destroy(*gone);
    [[maybe_unused]] const Shop copy = shop;
    [[maybe_unused]] const ouro::Entity wolf(12, 3);
    stop_in_image();
    return true;
}

int main() {
    if (!fill_an_image()) return 1;
    auto system = ouro::SystemAllocator::create({});
    const auto game = ouro::register_tag("sample-game");
    if (!system || !game) return 1;
    const auto creatures = ouro::register_tag("sample-creatures", *game);
    if (!creatures || !ouro::set_budget(*creatures, {.soft_bytes = 2048, .hard_bytes = 4096})) return 1;

    ouro::ChargedAllocator memory(*system);
    const ouro::TagScope scope(*creatures);
    const ouro::Expected<ouro::MemoryBlock> charged = memory.allocate(1000);
    // A peak, which nobody has asked for since.
    const auto passing = memory.allocate(2500);
    if (!passing) return 1;
    memory.deallocate(*passing);
    [[maybe_unused]] const ouro::Expected<ouro::MemoryBlock> refused = memory.allocate(5000);
    [[maybe_unused]] const ouro::Expected<int> seven = 7;
    [[maybe_unused]] const ouro::Expected<int> late = ouro::Status::timed_out;
    [[maybe_unused]] const ouro::Expected<void> done{};
    if (!charged) return 1;
    [[maybe_unused]] const ouro::MemoryBlock nothing{};
    [[maybe_unused]] const ouro::Handle<Trait> handle(5, 3);
    [[maybe_unused]] const ouro::Handle<Trait, unsigned, 20> small_handle(6, 2);
    [[maybe_unused]] const ouro::Handle<Trait> no_handle;
    [[maybe_unused]] const ouro::Tag tag = *creatures;
    [[maybe_unused]] const auto offset = ouro::OffsetPtr<int>::from_offset(64);
    [[maybe_unused]] const ouro::BitFlags<Trait> traits{Trait::hungry, Trait::ill};

    ouro::PooledVector<int> vector(*system);
    auto ring = ouro::RingBuffer<int>::create(*system, 3);
    auto bits = ouro::BitSet::create(*system, 100);
    ouro::FixedBitSet<70> fixed;
    ouro::StringInterner names(*system);
    ouro::SoaBlock<int, double> rows(*system);
    if (!ring || !bits || !names.intern("torch") || !names.intern("rope")) return 1;
    for (int value = 1; value <= 5; ++value) {
        if (!vector.push_back(10 * value) || !rows.push(value, 0.5 * value)) return 1;
        ring->push_back_overwriting(value);
    }
    bits->set(3);
    bits->set(64);
    fixed.set(69);
    stop_here();
    memory.deallocate(*charged);
    return 0;
}
