// Two places think that a block is theirs to free. The report names the block, who allocated it, who freed it
// first, and who does it again. With OURO_HARDENING=off the same line costs nothing.
#include <ouro/memory/frame_allocator.hpp>
#include <ouro/memory/guarded_allocator.hpp>
#include <ouro/memory/symbolized_reports.hpp>

#include <cstring>

using Guarded = ouro::GuardedAllocator<ouro::HardeningTier::checked>;

namespace {

bool names(const ouro::CallSites& sites, const char* function) {
    for (std::size_t index = 0; index < sites.frames().size(); ++index) {
        if (std::strstr(ouro::os::describe_address(sites.code_of(index)).function, function) != nullptr)
            return true;
    }
    return false;
}

bool caught = false;

ouro::AfterMemoryError on_error(const ouro::MemoryErrorReport& report) {
    ouro::print_memory_error(report);
    caught = report.error == ouro::MemoryError::double_free && names(report.allocated_at, "load_texture") &&
             names(report.freed_at, "unload_level") && names(report.noticed_at, "shut_down");
    return ouro::AfterMemoryError::resume;
}

}  // namespace

[[gnu::noinline]] ouro::MemoryBlock load_texture(Guarded& memory) {
    return memory.allocate(4096).value();
}
[[gnu::noinline]] void unload_level(Guarded& memory, ouro::MemoryBlock texture) {
    memory.deallocate(texture);
    asm volatile("");  // Keeps this function on the stack while it calls.
}
[[gnu::noinline]] void shut_down(Guarded& memory, ouro::MemoryBlock texture) {
    memory.deallocate(texture);
    asm volatile("");
}

int main() {
    ouro::name_call_sites_in_reports();
    ouro::set_memory_error_handler(on_error);
    auto frame = ouro::FrameAllocator::create({});
    auto memory = Guarded::create_on(*frame, {.name = "textures"});
    const ouro::MemoryBlock texture = load_texture(*memory);
    unload_level(*memory, texture);
    shut_down(*memory, texture);
    return caught ? 0 : 1;
}
