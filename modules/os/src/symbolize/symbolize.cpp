#include "describe_module.hpp"

#include <ouro/os/symbolize.hpp>

#include <atomic>
#include <cstdint>

#include <elfutils/libdwfl.h>
#include <link.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

namespace ouro::os {
namespace {

// libdw's session over this process. It is not safe for several threads, hence the lock around it.
class DebugInfo {
public:
    DebugInfo() noexcept { session_ = ::dwfl_begin(&callbacks_); }
    ~DebugInfo() {
        if (session_ != nullptr) ::dwfl_end(session_);
    }
    DebugInfo(const DebugInfo&) = delete;
    DebugInfo& operator=(const DebugInfo&) = delete;

    void describe(Dwarf_Addr address, CodeLocation& location) noexcept {
        if (Dwfl_Module* const module = module_at(address)) describe_in_module(module, address, location);
    }

private:
    // How often libraries were loaded and unloaded: the same number means the same libraries.
    static unsigned long long library_changes() noexcept {
        unsigned long long changes = 0;
        ::dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* count) {
                *static_cast<unsigned long long*>(count) = info->dlpi_adds + info->dlpi_subs;
                return 1;
            },
            &changes);
        return changes;
    }

    Dwfl_Module* module_at(Dwarf_Addr address) noexcept {
        if (session_ == nullptr) return nullptr;
        const unsigned long long changes = library_changes();
        if (changes == seen_changes_) return ::dwfl_addrmodule(session_, address);
        seen_changes_ = changes;
        ::dwfl_report_begin(session_);
        ::dwfl_linux_proc_report(session_, ::getpid());
        ::dwfl_report_end(session_, nullptr, nullptr);
        return ::dwfl_addrmodule(session_, address);
    }

    char* debug_path_ = nullptr;
    Dwfl_Callbacks callbacks_{::dwfl_linux_proc_find_elf, ::dwfl_standard_find_debuginfo, nullptr,
                              &debug_path_};
    Dwfl* session_ = nullptr;
    unsigned long long seen_changes_ = 0;
};

class SpinLock {
public:
    explicit SpinLock(std::atomic<bool>& busy) noexcept : busy_(busy) {
        while (busy_.exchange(true, std::memory_order_acquire))
            ::usleep(50);
    }
    ~SpinLock() { busy_.store(false, std::memory_order_release); }
    SpinLock(const SpinLock&) = delete;
    SpinLock& operator=(const SpinLock&) = delete;

private:
    std::atomic<bool>& busy_;
};

}  // namespace

CodeLocation describe_address(const void* address) noexcept {
    static std::atomic<bool> busy{false};
    const SpinLock lock(busy);
    static DebugInfo debug_info;
    CodeLocation location;
    debug_info.describe(reinterpret_cast<std::uintptr_t>(address), location);
    return location;
}

[[gnu::noinline]] std::size_t unwind_stack(std::span<void*> frames, unsigned skip) noexcept {
    unw_context_t context;
    unw_cursor_t cursor;
    if (::unw_getcontext(&context) != 0 || ::unw_init_local(&cursor, &context) != 0) return 0;
    std::size_t count = 0;
    while (count < frames.size() && ::unw_step(&cursor) > 0) {
        unw_word_t address = 0;
        if (::unw_get_reg(&cursor, UNW_REG_IP, &address) != 0 || address == 0) break;
        if (skip != 0) {
            --skip;
            continue;
        }
        frames[count++] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
    }
    return count;
}

}  // namespace ouro::os
