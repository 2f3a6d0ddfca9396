#include "mappings.hpp"
#include "page_range.hpp"
#include "system_calls.hpp"

#include <ouro/os/virtual_memory.hpp>

#include <atomic>

#include <sys/mman.h>
#include <unistd.h>

namespace ouro::os {
namespace {

constexpr int kReserveFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

Expected<MemoryBlock> map_reserved(void* address, std::size_t bytes, int extra_flags) noexcept {
    void* result = attempt(OsCall::map_memory, MAP_FAILED, [&] {
        return ::mmap(address, bytes, PROT_NONE, kReserveFlags | extra_flags, -1, 0);
    });
    if (result == MAP_FAILED) return errno == ENOMEM ? explain_no_addresses() : status_of_error(errno);
    return MemoryBlock{static_cast<std::byte*>(result), bytes};
}

Expected<MemoryBlock> reserve_at(void* address, std::size_t bytes) noexcept {
    const auto block = map_reserved(address, bytes, MAP_FIXED_NOREPLACE);
    if (!block || block->data == address) return block;
    // Kernels before 4.17 take the flag for a hint and may map elsewhere.
    [[maybe_unused]] const Status undone = unmap(*block);
    return Status::address_in_use;
}

// Reserves with room to spare and gives back what lies before and behind the aligned block.
Expected<MemoryBlock> reserve_aligned(std::size_t bytes, std::size_t alignment) noexcept {
    const auto roomy = checked_add(bytes, alignment - page_size());
    if (!roomy) return roomy.status();
    const auto room = map_reserved(nullptr, *roomy, 0);
    if (!room) return room.status();
    const std::size_t before = padding_to(room->data, alignment);
    const std::size_t behind = room->size - before - bytes;
    const MemoryBlock block = room->sub(before, bytes);
    Status status = before == 0 ? Status::ok : unmap(room->sub(0, before));
    if (status != Status::ok) {
        [[maybe_unused]] const Status undone = unmap(*room);
        return status;
    }
    if (behind != 0) status = unmap({block.end(), behind});
    if (status != Status::ok) {
        [[maybe_unused]] const Status undone = unmap({block.data, bytes + behind});
        return status;
    }
    return block;
}

Status set_protection(MemoryBlock block, int protection) noexcept {
    const Status range = check_pages(block);
    if (range != Status::ok) return range;
    if (attempt(OsCall::protect_memory, [&] { return ::mprotect(block.data, block.size, protection); }) ==
        0) {
        return Status::ok;
    }
    return errno == ENOMEM ? explain_no_memory(block) : status_of_error(errno);
}

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14

// An empty range is accepted exactly where the advice is known. Only a definite answer is remembered.
bool knows_populate_write() noexcept {
    enum class Answer : unsigned char { unknown, yes, no };
    static std::atomic<Answer> remembered{Answer::unknown};
    const Answer answer = remembered.load(std::memory_order_relaxed);
    if (answer != Answer::unknown) return answer == Answer::yes;
    const bool known =
        attempt(OsCall::advise_memory, [] { return ::madvise(nullptr, 0, kPopulateWrite); }) == 0;
    if (known || errno == EINVAL)
        remembered.store(known ? Answer::yes : Answer::no, std::memory_order_relaxed);
    return known;
}

// For kernels before 5.14. Adding zero atomically is a write that changes nothing, whoever else writes
// meanwhile.
void touch_pages(MemoryBlock block) noexcept {
    for (std::size_t offset = 0; offset < block.size; offset += page_size()) {
        auto& first = *reinterpret_cast<unsigned char*>(block.data + offset);
        std::atomic_ref(first).fetch_add(0, std::memory_order_relaxed);
    }
}

Status populate(MemoryBlock block) noexcept {
    int error = 0;
    do {
        const int result =
            attempt(OsCall::advise_memory, [&] { return ::madvise(block.data, block.size, kPopulateWrite); });
        error = result == 0 ? 0 : errno;
    } while (error == EINTR || error == EAGAIN);
    switch (error) {
        case 0:
            return Status::ok;
        case ENOMEM:
            return is_mapped(block) ? Status::out_of_memory : Status::not_mapped;
        case EINVAL:  // pages that may not be written
        case EFAULT:
            return Status::not_mapped;
        default:
            return status_of_error(error);
    }
}

}  // namespace

std::size_t page_size() noexcept {
    // Without the compiler's guard, which needs the C++ runtime: asking twice does no harm.
    static constinit std::atomic<std::size_t> remembered = 0;
    std::size_t size = remembered.load(std::memory_order_relaxed);
    if (size == 0) [[unlikely]] {
        size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        remembered.store(size, std::memory_order_relaxed);
    }
    return size;
}

Expected<MemoryBlock> reserve(const ReserveRequest& request) noexcept {
    const auto complete = complete_request(request);
    if (!complete) return complete.status();
    if (complete->address != nullptr) return reserve_at(complete->address, complete->bytes);
    if (complete->alignment == page_size()) return map_reserved(nullptr, complete->bytes, 0);
    return reserve_aligned(complete->bytes, complete->alignment);
}

Expected<void> release(MemoryBlock block) noexcept {
    const Status range = check_pages(block);
    return range == Status::ok ? unmap(block) : range;
}

Expected<void> commit(MemoryBlock block) noexcept {
    return set_protection(block, PROT_READ | PROT_WRITE);
}

Expected<void> decommit(MemoryBlock block) noexcept {
    const Status range = check_pages(block);
    if (range != Status::ok) return range;
    // Mapping over a hole would create pages that nobody reserved.
    if (!is_mapped(block)) return Status::not_mapped;
    return make_reserved(block);
}

Expected<void> discard(MemoryBlock block) noexcept {
    const Status range = check_pages(block);
    if (range != Status::ok) return range;
    if (attempt(OsCall::advise_memory, [&] { return ::madvise(block.data, block.size, MADV_DONTNEED); }) == 0)
        return {};
    return errno == ENOMEM ? Status::not_mapped : status_of_error(errno);
}

Expected<void> protect(MemoryBlock block, Protection protection) noexcept {
    return set_protection(block, native_protection(protection));
}

Expected<void> prefault(MemoryBlock block) noexcept {
    const Status range = check_pages(block);
    if (range != Status::ok) return range;
    if (knows_populate_write()) return populate(block);
    touch_pages(block);
    return {};
}

}  // namespace ouro::os
