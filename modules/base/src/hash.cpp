#include "hash_kernels.hpp"

#include <ouro/base/hash.hpp>

#include <atomic>

namespace ouro {
namespace {

std::uint64_t select_then_hash(const void* data, std::size_t size, std::uint64_t seed) noexcept;

// Starts as the selector, so that a call from a static constructor of another file finds it ready.
constinit std::atomic<HashKernel> kernel{select_then_hash};

std::uint64_t select_then_hash(const void* data, std::size_t size, std::uint64_t seed) noexcept {
    const HashKernel selected = select_hash_kernel();
    kernel.store(selected, std::memory_order_relaxed);
    return selected(data, size, seed);
}

}  // namespace

std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed) noexcept {
    return kernel.load(std::memory_order_relaxed)(data, size, seed);
}

}  // namespace ouro
