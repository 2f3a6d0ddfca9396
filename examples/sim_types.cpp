// A shop with shelves and customers, whole inside the image: allocation, arrays, maps and handles go back
// with the rest, and yesterday's prices can still be read.
#include <ouro/streams/sim_map.hpp>
#include <ouro/streams/sim_pool.hpp>
#include <ouro/streams/sim_vec.hpp>

#include <cstdint>
#include <cstdio>

using ouro::FixedString;
using ouro::SimHandle;

struct Customer {
    FixedString<11> name;
    std::uint32_t gold;
    ouro::SimVec<FixedString<15>> bag;
};

struct Shop {
    ouro::SimMap<FixedString<15>, std::uint32_t> prices;
    ouro::SimPool<Customer> customers;
};

static bool buy(ouro::ImageHeap& heap, const Shop& shop, SimHandle<Customer> who, FixedString<15> what) {
    const std::uint32_t* price = heap.bind(shop.prices).find(what);
    Customer* customer = heap.bind(shop.customers).edit(who);  // null when the customer is gone
    if (price == nullptr || customer == nullptr || customer->gold < *price) return false;
    customer->gold -= *price;
    return heap.bind(customer->bag).push_back(what) == ouro::Status::ok;
}

int main() {
    const ouro::SegmentOptions world{.name = "world", .bytes = 1 << 20};
    auto ring = ouro::StateRing::create({.segments = {&world, 1}, .history_bytes = std::uint64_t{16} << 20});
    if (!ring) return 1;
    auto heap = ouro::ImageHeap::create(*ring, "world");
    const auto root = heap ? heap->make_root<Shop>("shop") : heap.status();
    if (!root) return 1;
    const Shop& shop = heap->get(*root);

    auto prices = heap->bind(shop.prices);
    if (prices.set("lantern", 7) != ouro::Status::ok || prices.set("rope", 3) != ouro::Status::ok) return 1;
    const auto ada = heap->bind(shop.customers).create({.name = "Ada", .gold = 10, .bag = {}});
    const auto morning = ring->commit();
    if (!ada || !morning) return 1;

    *prices.edit("rope") = 30;
    if (!buy(*heap, shop, *ada, "lantern") || !ring->commit()) return 1;
    const auto eve = heap->bind(shop.customers).create({.name = "Eve", .gold = 99, .bag = {}});
    std::printf("%u customers, Ada has %u gold and %u things\n", shop.customers.size(),
                heap->bind(shop.customers).find(*ada)->gold,
                heap->bind(shop.customers).find(*ada)->bag.size());

    const auto past = ring->view(*morning);  // yesterday, from any thread, without going back
    if (!past) return 1;
    const ouro::PastReader reader(*past);
    const auto then = reader.root<Shop>(*heap, "shop");
    if (!then || then->prices.find(reader, "rope").value_or(0) != 3) return 1;

    if (!ring->rollback(*morning)) return 1;  // and going back: the rope is cheap, Eve never came
    const bool eve_is_gone = heap->bind(shop.customers).find(*eve) == nullptr;
    for (const auto& [what, price] : heap->bind(shop.prices))
        std::printf("%.*s costs %u\n", static_cast<int>(what.size()), what.view().data(), price);
    std::printf("Eve is %s; Ada has %u gold\n", eve_is_gone ? "gone" : "here",
                heap->bind(shop.customers).find(*ada)->gold);
    return eve_is_gone && heap->bind(shop.customers).find(*ada)->gold == 10 &&
                   heap->check() == ouro::Status::ok
               ? 0
               : 1;
}
