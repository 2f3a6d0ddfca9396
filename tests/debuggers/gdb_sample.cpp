// One of everything that the debuggers' views know, for gdb to look at in stop_here().
#include <ouro/base/handle.hpp>
#include <ouro/base/offset_ptr.hpp>
#include <ouro/memory/collections/bit_flags.hpp>
#include <ouro/memory/collections/bit_set.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>
#include <ouro/memory/collections/ring_buffer.hpp>
#include <ouro/memory/collections/soa_block.hpp>
#include <ouro/memory/collections/string_interner.hpp>
#include <ouro/memory/system_allocator.hpp>
#include <ouro/observe/budget.hpp>
#include <ouro/observe/charged_allocator.hpp>

enum class Trait : unsigned char { hungry, asleep, ill };

[[gnu::noinline]] void stop_here() {
    asm volatile("" ::: "memory");
}

int main() {
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
