#include <ouro/observe/detail/ledger_paths.hpp>
#include <ouro/observe/detail/sampling.hpp>

#include <limits>

namespace ouro::detail {

bool sample_allocation(MemoryBlock, Tag tag) noexcept {
    if (t_shard != nullptr)
        t_shard->cells[tag.id()].sample_at.store(std::numeric_limits<std::int64_t>::max(),
                                                 std::memory_order_relaxed);
    return false;
}
void forget_sample(const void*) noexcept {}
void move_sample(const void*, MemoryBlock) noexcept {}

}  // namespace ouro::detail
