#include <ouro/os/heap_calls.hpp>

namespace ouro::os {

Expected<HeapCallWatch> HeapCallWatch::create(std::span<const std::string_view> /*libraries*/,
                                              HeapCallFunction /*function*/, void* /*context*/) noexcept {
    return Status::not_supported;
}

HeapCallWatch::~HeapCallWatch() = default;

}  // namespace ouro::os
