#include "thread.h"

#include "host.hpp"
#include "host_calls.hpp"
#include "thread_exit_table.hpp"

#include <ouro/base/align.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <memory>
#include <utility>

namespace ouro::os {
namespace {

constexpr std::size_t kDefaultStackBytes = std::size_t{1} << 20;

// Lies at the upper end of the thread's own block: a stack that overflows runs away from it.
struct ThreadRecord {
    ouro_wasm_thread thread{};
    Thread::Entry entry = nullptr;
    void* argument = nullptr;
    MemoryBlock block;
};

void run_to_the_end(void* record_pointer) {
    const auto& record = *static_cast<const ThreadRecord*>(record_pointer);
    record.entry(record.argument);
    while (is_thread_exit_armed())
        run_thread_exit_hooks();
}

ThreadRecord* record_of(std::uintptr_t native) noexcept {
    return reinterpret_cast<ThreadRecord*>(native);
}

Status check_core(unsigned core) noexcept {
    return core < core_count() ? Status::not_supported : Status::bad_argument;
}

Expected<std::size_t> block_bytes(std::size_t stack_bytes) noexcept {
    const std::size_t with_locals =
        ouro_wasm_thread_block_bytes(stack_bytes != 0 ? stack_bytes : kDefaultStackBytes);
    const auto whole = checked_add(with_locals, sizeof(ThreadRecord));
    if (with_locals == 0 || !whole) return Status::bad_argument;
    return whole;
}

// What a caller of start() is told when its stack cannot be had.
Status explain_no_stack(Status status) noexcept {
    if (status == Status::too_many_mappings) return Status::too_many_threads;
    return status == Status::size_overflow ? Status::bad_argument : Status::out_of_memory;
}

Expected<ThreadRecord*> make_record(std::size_t bytes) noexcept {
    const auto block = reserve({.bytes = bytes});
    if (!block) return explain_no_stack(block.status());
    if (const auto committed = commit(*block); !committed) {
        [[maybe_unused]] const auto undone = release(*block);
        return explain_no_stack(committed.status());
    }
    void* place = block->data + align_down(block->size - sizeof(ThreadRecord), alignof(ThreadRecord));
    auto* record = ::new (place) ThreadRecord;
    record->block = *block;
    return record;
}

void free_record(ThreadRecord* record) noexcept {
    [[maybe_unused]] const auto released = release(MemoryBlock(record->block));
    OURO_DEBUG_ASSERT(released, "a thread's stack could not be released");
}

bool run(ThreadRecord& record, Thread::Entry entry, void* argument, const char* name) noexcept {
    const auto* low = record.block.data;
    const auto bytes = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&record) - low);
    record.entry = entry;
    record.argument = argument;
    const int started =
        ouro_wasm_thread_start(&record.thread, run_to_the_end, &record, record.block.data, bytes, name);
    OURO_ASSERT(started == ouro_wasm_ok, "the block was made for this thread");
    return ouro_wasm_thread_await_answer(&record.thread) == ouro_wasm_ok;
}

}  // namespace

Expected<Thread> Thread::start(Entry entry, void* argument, const ThreadOptions& options) noexcept {
    if (entry == nullptr) return Status::bad_argument;
    if (options.core != kAnyCore) return check_core(options.core);
    const auto bytes = block_bytes(options.stack_bytes);
    if (!bytes) return bytes.status();
    const auto record = make_record(*bytes);
    if (!record) return record.status();
    if (!attempt(OsCall::start_thread, [&] { return run(**record, entry, argument, options.name); })) {
        free_record(*record);
        return Status::too_many_threads;
    }
    return Thread(reinterpret_cast<std::uintptr_t>(*record));
}

void Thread::join() noexcept {
    OURO_ASSERT(is_joinable(), "only a running thread can be joined, and once");
    ThreadRecord* record = record_of(std::exchange(native_, 0));
    [[maybe_unused]] const int joined = ouro_wasm_thread_join(&record->thread);
    free_record(record);
}

unsigned core_count() noexcept {
    return static_cast<unsigned>(wasm_host::core_count());
}

Expected<void> pin_this_thread(unsigned core) noexcept {
    return check_core(core);
}

std::uint64_t this_thread_id() noexcept {
    return ouro_wasm_thread_current_id();
}

// A worker cannot give up its turn; the shortest sleep lets another one run.
void yield_thread() noexcept {
    std::uint32_t nobody_wakes_this = 0;
    (void)ouro_wasm_wait32(&nobody_wakes_this, 0, 1);
}

}  // namespace ouro::os
