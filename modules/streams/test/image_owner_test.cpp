// Who has a byte of an image, as far as the library can see by itself.
#include <ouro/base/random.hpp>
#include <ouro/streams/foreign_heap.hpp>
#include <ouro/streams/image_owner.hpp>
#include <ouro/streams/sim_map.hpp>
#include <ouro/streams/sim_pool.hpp>
#include <ouro/streams/sim_set.hpp>
#include <ouro/streams/sim_string.hpp>
#include <ouro/streams/sim_vec.hpp>

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ouro {
namespace {

struct Creature {
    std::uint64_t id;
    std::uint64_t health;
};

struct Town {
    std::uint64_t gold;
    SimPool<Creature> creatures;
    SimVec<std::uint64_t> prices;
    std::uint32_t unused;
};

constexpr std::array kSegments = {
    SegmentOptions{.name = "world", .bytes = 256 << 10},
    SegmentOptions{.name = "noted", .bytes = 256 << 10},
    SegmentOptions{.name = "plain", .bytes = 64 << 10},
    SegmentOptions{.name = "foreign",
                   .bytes = 64 << 10,
                   .kind = SegmentKind::process_bound,
                   .tracking = Tracking::compare},
    SegmentOptions{.name = "outside", .bytes = 64 << 10, .kind = SegmentKind::process_bound},
};

class ImageOwnerTest : public testing::Test {
protected:
    void SetUp() override {
        auto ring = StateRing::create({.segments = kSegments, .history_ticks = 8, .history_bytes = 16 << 20});
        ASSERT_TRUE(ring) << status_name(ring.status());
        ring_ = *std::move(ring);
    }

    std::uint64_t offset_of(const void* at) const {
        return static_cast<std::uint64_t>(static_cast<const std::byte*>(at) - ring_.image().data);
    }
    ImageOwner owner_of(const void* at) const { return find_owner(ring_, offset_of(at)); }
    std::byte* segment(std::string_view name) const { return ring_.segment_block(name)->data; }

    static std::string text_of(const ImageOwner& owner, std::uint64_t offset) {
        std::array<char, 200> text;
        return std::string(describe_owner(owner, offset, text));
    }
    std::string text_of(const void* at) const { return text_of(owner_of(at), offset_of(at)); }

    StateRing ring_;
};

TEST_F(ImageOwnerTest, TheImageHasAHeader) {
    EXPECT_EQ(owner_of(ring_.image().data + 20).kind, OwnerKind::image_header);
    EXPECT_EQ(text_of(ring_.image().data + 20), "byte 20 of the image's header (4096 bytes)");
    EXPECT_EQ(owner_of(segment("plain") + 100).kind, OwnerKind::unknown);
    EXPECT_EQ(text_of(segment("plain") + 100), "nobody known");
    EXPECT_EQ(find_owner(ring_, ring_.image().size).kind, OwnerKind::unknown);
    EXPECT_EQ(find_owner(ring_, UINT64_MAX).kind, OwnerKind::unknown);
}

TEST_F(ImageOwnerTest, AHeapKnowsItsRootsAndItsFreeMemory) {
    auto heap = ImageHeap::create(ring_, "world");
    ASSERT_TRUE(heap);
    const auto town = heap->make_root<Town>("town");
    const auto block = heap->allocate(600);
    const auto last = heap->allocate(600);
    ASSERT_TRUE(town && block && last);
    const std::byte* const at = reinterpret_cast<const std::byte*>(&heap->get(*town));
    const ImageOwner owner = owner_of(at + 8);
    EXPECT_EQ(owner.kind, OwnerKind::root);
    EXPECT_EQ(owner.name, "town");
    EXPECT_EQ(owner.offset, offset_of(at));
    EXPECT_EQ(owner.bytes, sizeof(Town));
    EXPECT_EQ(text_of(at + 8), "byte 8 of root 'town' (" + std::to_string(sizeof(Town)) + " bytes)");

    EXPECT_EQ(owner_of(segment("world")).kind, OwnerKind::heap_records);
    EXPECT_EQ(owner_of(segment("world") + sizeof(ImageHeapHeader)).kind, OwnerKind::heap_records);
    EXPECT_EQ(owner_of(block->data + 599).kind, OwnerKind::heap_memory);
    // Without notes the blocks cannot be told apart.
    EXPECT_EQ(owner_of(last->data).offset, owner_of(block->data).offset);
    heap->deallocate(*block);
    const ImageOwner freed = owner_of(block->data + 16);
    EXPECT_EQ(freed.kind, OwnerKind::free_memory);
    EXPECT_EQ(freed.offset, offset_of(block->data));
    EXPECT_EQ(freed.bytes, block->size);
    EXPECT_EQ(text_of(block->data + 16),
              "byte 16 of free memory (" + std::to_string(block->size) + " bytes)");
    EXPECT_EQ(owner_of(last->data + 1).offset, offset_of(last->data));
}

// Random blocks, commits and rollbacks: each byte has the block that the model says.
TEST_F(ImageOwnerTest, NotesTellEachBlock) {
    auto heap = ImageHeap::create(ring_, "noted", {.notes_blocks = true});
    ASSERT_TRUE(heap);
    Random random(5);
    using Model = std::map<std::uint32_t, std::uint32_t>;
    Model blocks;
    std::map<Tick, Model> kept;
    for (int step = 0; step < 3000; ++step) {
        SCOPED_TRACE("seed 5, step " + std::to_string(step));
        const std::uint32_t choice = random.below(100);
        auto each = blocks.begin();
        if (!blocks.empty()) std::advance(each, random.below(static_cast<std::uint32_t>(blocks.size())));
        if (choice < 50 || blocks.empty()) {
            const auto made = heap->allocate(1 + random.below(700), std::size_t{16} << random.below(4));
            if (made) blocks[heap->offset_of(made->data)] = static_cast<std::uint32_t>(made->size);
        } else if (choice < 75) {
            heap->deallocate({ring_.image().data + each->first, each->second});
            blocks.erase(each);
        } else if (choice < 85) {
            const auto moved =
                heap->reallocate({ring_.image().data + each->first, each->second}, 1 + random.below(1500));
            if (moved) {
                blocks.erase(each);
                blocks[heap->offset_of(moved->data)] = static_cast<std::uint32_t>(moved->size);
            }
        } else if (choice < 98) {
            const std::uint32_t within = random.below(each->second);
            const ImageOwner owner = find_owner(ring_, each->first + within);
            ASSERT_EQ(owner.kind, OwnerKind::heap_block);
            ASSERT_EQ(owner.offset, each->first);
            ASSERT_EQ(owner.bytes, each->second);
        } else if (kept.empty() || random.below(3) != 0) {
            kept[*ring_.commit()] = blocks;
            ASSERT_EQ(heap->check(), Status::ok);
        } else {
            const Tick tick = std::max(kept.begin()->first, ring_.oldest());
            ASSERT_TRUE(ring_.rollback(tick));
            blocks = kept.at(tick);
            kept.erase(kept.upper_bound(tick), kept.end());
            ASSERT_EQ(heap->check(), Status::ok);
        }
    }
}

TEST_F(ImageOwnerTest, NotesAreFoundAgainAndVerified) {
    auto heap = ImageHeap::create(ring_, "noted", {.notes_blocks = true});
    ASSERT_TRUE(heap);
    const auto block = heap->allocate(100);
    ASSERT_TRUE(block);
    auto again = ImageHeap::attach(ring_, "noted");
    ASSERT_TRUE(again);
    const auto other = again->allocate(100);
    ASSERT_TRUE(other);
    EXPECT_EQ(owner_of(other->data + 3).kind, OwnerKind::heap_block);
    EXPECT_EQ(text_of(other->data + 3), "byte 3 of a block (112 bytes)");
    EXPECT_EQ(again->check(), Status::ok);
    auto& header = *reinterpret_cast<ImageHeapHeader*>(segment("noted"));
    for (const std::uint64_t wrong : {std::uint64_t{0}, header.notes_bytes + 8, ~std::uint64_t{0}}) {
        const std::uint64_t right = std::exchange(header.notes_bytes, wrong);
        EXPECT_EQ(ImageHeap::attach(ring_, "noted").status(), Status::corrupt_data);
        EXPECT_EQ(owner_of(other->data).kind, OwnerKind::unknown);
        header.notes_bytes = right;
    }
    // A note too many.
    std::byte* const notes = segment("noted") + sizeof(ImageHeapHeader);
    notes[header.notes_bytes - 1] = std::byte{1};
    EXPECT_EQ(again->check(), Status::corrupt_data);
    notes[header.notes_bytes - 1] = std::byte{0};
    EXPECT_EQ(again->check(), Status::ok);
}

TEST_F(ImageOwnerTest, ContainersTellTheirObjects) {
    auto heap = ImageHeap::create(ring_, "world");
    ASSERT_TRUE(heap);
    const auto root = heap->make_root<Town>("town");
    ASSERT_TRUE(root);
    const Town& town = heap->get(*root);
    auto creatures = heap->bind(town.creatures);
    std::vector<SimHandle<Creature>> names;
    for (std::uint64_t id = 0; id < 40; ++id)
        names.push_back(*creatures.create({.id = id, .health = 9}));
    auto prices = heap->bind(town.prices);
    for (std::uint64_t price = 0; price < 5; ++price)
        ASSERT_EQ(prices.push_back(price), Status::ok);
    const std::array sources = {owner_source("creatures", town.creatures),
                                owner_source("prices", town.prices)};
    for (std::uint64_t id = 0; id < 40; ++id) {
        const void* const at = &creatures.find(names[static_cast<std::size_t>(id)])->health;
        const ImageOwner owner = find_owner(ring_, offset_of(at), sources);
        EXPECT_EQ(owner.kind, OwnerKind::pool_object);
        EXPECT_EQ(owner.number, id);
        EXPECT_EQ(owner.name, "creatures");
    }
    const void* const health = &creatures.find(names[17])->health;
    EXPECT_EQ(text_of(find_owner(ring_, offset_of(health), sources), offset_of(health)),
              "byte 16 of object 17 of 'creatures' (24 bytes)");
    ASSERT_EQ(creatures.destroy(names[17]), Status::ok);
    EXPECT_EQ(text_of(find_owner(ring_, offset_of(health), sources), offset_of(health)),
              "byte 16 of free place 17 of 'creatures' (24 bytes)");
    const std::uint64_t third = offset_of(&prices[3]) + 1;
    EXPECT_EQ(text_of(find_owner(ring_, third, sources), third), "byte 1 of element 3 of 'prices' (8 bytes)");
    // What is in none of them is looked for as before; an empty container has nothing.
    EXPECT_EQ(find_owner(ring_, offset_of(&town.gold), sources).kind, OwnerKind::root);
    creatures.release();
    prices.release();
    EXPECT_EQ(find_owner(ring_, offset_of(health), sources).kind, OwnerKind::free_memory);
    EXPECT_EQ(find_owner(ring_, third, sources).kind, OwnerKind::free_memory);
}

TEST_F(ImageOwnerTest, ForeignHeapsAndWhatLiesOutsideAreKnownToo) {
    auto heap = ForeignHeap::create(ring_, "foreign");
    ASSERT_TRUE(heap) << status_name(heap.status());
    const auto block = heap->allocate(1000);
    ASSERT_TRUE(block);
    EXPECT_EQ(owner_of(block->data + 10).kind, OwnerKind::heap_memory);
    heap->deallocate(*block);
    EXPECT_EQ(owner_of(block->data + 10).kind, OwnerKind::free_memory);
    EXPECT_EQ(owner_of(segment("foreign") + 8).kind, OwnerKind::heap_records);

    std::array<std::byte, 300> variables{};
    std::array<std::byte, 50> others{};
    ASSERT_TRUE(ring_.keep_outside("outside", {variables.data(), variables.size()}, "libvariables"));
    ASSERT_TRUE(ring_.keep_outside("outside", {others.data(), others.size()}));
    const std::uint64_t offset = *ring_.outside_offset(&variables[7]);
    const auto owner = ring_.outside_at(offset);
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->kind, OwnerKind::outside);
    EXPECT_EQ(owner->name, "libvariables");
    EXPECT_EQ(owner->address, variables.data());
    EXPECT_EQ(owner->offset, offset - 7);
    EXPECT_EQ(owner->bytes, variables.size());
    EXPECT_EQ(text_of(find_owner(ring_, offset), offset)
                  .find("byte 7 of the copy of 'libvariables' (300 bytes at 0x"),
              0U);
    const std::uint64_t unnamed = *ring_.outside_offset(&others[49]);
    EXPECT_EQ(text_of(find_owner(ring_, unnamed), unnamed).find("byte 49 of the copy of what lies outside ("),
              0U);
    EXPECT_EQ(ring_.outside_at(offset - 8).status(), Status::not_found);
    ASSERT_TRUE(ring_.release_outside({variables.data(), variables.size()}));
    EXPECT_EQ(ring_.outside_at(offset).status(), Status::not_found);
}

TEST_F(ImageOwnerTest, ALongNameAndAShortTextAreCut) {
    std::array<std::byte, 16> bytes{};
    const std::string name(60, 'x');
    ASSERT_TRUE(ring_.keep_outside("outside", {bytes.data(), bytes.size()}, name));
    const std::uint64_t offset = *ring_.outside_offset(bytes.data());
    const ImageOwner owner = find_owner(ring_, offset);
    EXPECT_EQ(owner.name.view(), std::string(31, 'x'));
    std::array<char, 10> text;
    EXPECT_EQ(describe_owner(owner, offset, text), "byte 0 of");
    EXPECT_EQ(text.back(), '\0');
    EXPECT_EQ(describe_owner(owner, offset, {}), "");
}

struct Shop {
    SimMap<std::uint32_t, std::uint64_t> prices;
    SimSet<std::uint32_t> sold;
    SimString sign;
    std::uint32_t unused;
};

TEST_F(ImageOwnerTest, MapsSetsAndTextsTellWhatTheyHave) {
    auto heap = ImageHeap::create(ring_, "world");
    ASSERT_TRUE(heap);
    const auto shop = heap->make_root<Shop>("shop");
    ASSERT_TRUE(shop);
    const Shop& stored = heap->get(*shop);
    const std::array sources = {owner_source("prices", stored.prices), owner_source("sold", stored.sold),
                                owner_source("sign", stored.sign)};
    const auto told = [&](const void* at) {
        return text_of(find_owner(ring_, offset_of(at), sources), offset_of(at));
    };
    // Of empty ones nothing is told.
    EXPECT_EQ(told(&stored), "byte 0 of root 'shop' (" + std::to_string(sizeof(Shop)) + " bytes)");

    auto prices = heap->bind(stored.prices);
    for (std::uint32_t key = 0; key < 100; ++key)
        ASSERT_EQ(prices.set(key * 7, key), Status::ok);
    ASSERT_TRUE(prices.erase(7));
    const auto* fifth = reinterpret_cast<const std::byte*>(prices.find(35));
    constexpr std::size_t kEntryBytes = sizeof(SimMapEntry<std::uint32_t, std::uint64_t>);
    const std::string size = " (" + std::to_string(kEntryBytes) + " bytes)";
    const std::size_t value_at = kEntryBytes - sizeof(std::uint64_t);
    EXPECT_EQ(told(fifth + 1), "byte " + std::to_string(value_at + 1) + " of entry 5 of 'prices'" + size);
    EXPECT_EQ(told(fifth - 4 * kEntryBytes),
              "byte " + std::to_string(value_at) + " of free entry 1 of 'prices'" + size);
    EXPECT_EQ(told(fifth + 95 * kEntryBytes),
              "byte " + std::to_string(value_at) + " of free entry 100 of 'prices'" + size);
    const ImageOwner index = find_owner(ring_, offset_of(fifth - value_at - 5 * kEntryBytes - 1), sources);
    EXPECT_EQ(index.kind, OwnerKind::table_index);
    EXPECT_EQ(text_of(index, index.offset + 3),
              "byte 3 of the index of 'prices' (" + std::to_string(index.bytes) + " bytes)");
    EXPECT_EQ(index.offset + index.bytes, offset_of(fifth - value_at - 5 * kEntryBytes));

    ASSERT_TRUE(heap->bind(stored.sold).insert(12));
    EXPECT_EQ(told(&*heap->bind(stored.sold).begin()), "byte 0 of entry 0 of 'sold' (4 bytes)");

    auto sign = heap->bind(stored.sign);
    ASSERT_EQ(sign.assign("rope and sails"), Status::ok);
    const ImageOwner text = find_owner(ring_, offset_of(sign.view().data() + 5), sources);
    EXPECT_EQ(text.kind, OwnerKind::text);
    EXPECT_EQ(text.offset, offset_of(sign.view().data()));
    EXPECT_GE(text.bytes, 14U);
    EXPECT_EQ(text_of(text, text.offset + 5),
              "byte 5 of text 'sign' (" + std::to_string(text.bytes) + " bytes)");
    sign.release();
    prices.release();
    EXPECT_NE(find_owner(ring_, text.offset, sources).kind, OwnerKind::text);
    EXPECT_NE(find_owner(ring_, index.offset, sources).kind, OwnerKind::table_index);
}

// Knows the first 100 bytes of its segment.
bool find_sparks(std::string_view segment, ConstOffsetBase, std::uint64_t offset, ImageOwner& owner) {
    constexpr std::uint64_t kBytes = 100;
    if (segment != "plain" || offset % kSegmentAlignment >= kBytes) return false;
    owner.kind = OwnerKind::named;
    owner.name = ImageOwner::name_of("sparks");
    owner.offset = offset - offset % kSegmentAlignment;
    owner.bytes = kBytes;
    return true;
}

TEST_F(ImageOwnerTest, AFunctionIsAskedAboutItsSegment) {
    std::byte* const plain = segment("plain");
    EXPECT_EQ(ring_.told_owner(offset_of(plain)).status(), Status::not_found);
    ASSERT_TRUE(ring_.tell_owners("plain", find_sparks));
    const ImageOwner owner = owner_of(plain + 99);
    EXPECT_EQ(owner.kind, OwnerKind::named);
    EXPECT_EQ(owner.name, "sparks");
    EXPECT_EQ(owner.offset, offset_of(plain));
    EXPECT_EQ(ring_.told_owner(offset_of(plain + 99))->name, "sparks");
    // What it does not know, and what is not its own.
    EXPECT_EQ(ring_.told_owner(offset_of(plain + 100)).status(), Status::not_found);
    EXPECT_EQ(owner_of(plain + 100).kind, OwnerKind::unknown);
    EXPECT_EQ(ring_.told_owner(offset_of(segment("noted"))).status(), Status::not_found);
    EXPECT_EQ(ring_.told_owner(0).status(), Status::not_found);

    ASSERT_TRUE(ring_.tell_owners("plain", nullptr));
    EXPECT_EQ(ring_.told_owner(offset_of(plain)).status(), Status::not_found);
    EXPECT_EQ(owner_of(plain).kind, OwnerKind::unknown);
    EXPECT_EQ(ring_.tell_owners("nowhere", find_sparks).status(), Status::not_found);
    EXPECT_EQ(ring_.told_owner(offset_of(plain)).status(), Status::not_found);
}

}  // namespace
}  // namespace ouro
