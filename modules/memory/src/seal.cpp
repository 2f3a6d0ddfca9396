#include <ouro/memory/seal.hpp>

#include <atomic>

namespace ouro {
namespace {

// Nothing is published through these; a relaxed order is enough.
std::atomic<bool> sealed_now{false};
std::atomic<std::uint64_t> refused{0};

}  // namespace

void seal() noexcept {
    sealed_now.store(true, std::memory_order_relaxed);
}

void unseal() noexcept {
    sealed_now.store(false, std::memory_order_relaxed);
}

bool is_sealed() noexcept {
    return sealed_now.load(std::memory_order_relaxed);
}

Status check_unsealed() noexcept {
    if (!is_sealed()) [[likely]]
        return Status::ok;
    refused.fetch_add(1, std::memory_order_relaxed);
    return Status::sealed;
}

std::uint64_t refused_growths() noexcept {
    return refused.load(std::memory_order_relaxed);
}

}  // namespace ouro
