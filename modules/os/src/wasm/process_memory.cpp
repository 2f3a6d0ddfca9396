#include "linear_memory.hpp"

#include <ouro/os/process_memory.hpp>

namespace ouro::os {

Expected<ProcessMemory> process_memory() noexcept {
    const std::uint64_t bytes = std::uint64_t{wasm::grown_pages()} * wasm::kPageBytes;
    return ProcessMemory{bytes, bytes, bytes};
}

std::uint32_t process_id() noexcept {
    return 1;
}

Expected<void> let_same_user_read() noexcept {
    return Status::not_supported;
}

}  // namespace ouro::os
