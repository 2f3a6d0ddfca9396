#pragma once

#include <ouro/memory/memory_resource.hpp>

#include <cstddef>
#include <cstdint>
#include <map>

namespace ouro::testing_support {

// A heap that holds its users to the contract: sizes and alignments at both ends, nothing returned twice,
// nothing left. Blocks are larger than asked now and then, new and freed bytes are filled with rubbish, and
// reallocate moves whenever it can. Any call can be made to fail.
class StrictResource final : public MemoryResource {
public:
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};

    StrictResource() noexcept = default;
    // Reports blocks that were not returned as a test failure.
    ~StrictResource();
    StrictResource(const StrictResource&) = delete;
    StrictResource& operator=(const StrictResource&) = delete;

    [[nodiscard]] Expected<MemoryBlock> allocate(std::size_t size, std::size_t alignment) noexcept override;
    void deallocate(MemoryBlock block, std::size_t alignment) noexcept override;
    [[nodiscard]] Expected<MemoryBlock> reallocate(MemoryBlock block, std::size_t new_size,
                                                   std::size_t alignment) noexcept override;

    [[nodiscard]] bool owns(const void* address) const noexcept override;
    [[nodiscard]] ResourceInfo info() const noexcept override { return {.name = "strict"}; }
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] Status check() const noexcept override { return Status::ok; }

    // From now on, the calls from number `first` (0 is the next) to before `end` fail.
    void fail_calls(std::uint64_t first, std::uint64_t end = kNever) noexcept;
    void stop_failing() noexcept { fail_calls(kNever); }
    // Calls that allocated or wanted to, since fail_calls.
    [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
    // Blocks exactly as large as asked, as most allocators give for large ones.
    void be_exact() noexcept { exact_ = true; }

    [[nodiscard]] std::size_t live_blocks() const noexcept { return live_.size(); }
    [[nodiscard]] std::size_t live_bytes() const noexcept { return live_bytes_; }

private:
    struct Live {
        std::size_t asked;
        std::size_t given;
        std::size_t alignment;
    };

    [[nodiscard]] bool fails_now() noexcept;
    // The record of a block that is returned or changed; a mistake is a test failure.
    [[nodiscard]] bool matches(MemoryBlock block, std::size_t alignment) const noexcept;

    std::map<std::byte*, Live> live_;
    std::size_t live_bytes_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t first_failing_ = kNever;
    std::uint64_t end_failing_ = kNever;
    std::uint64_t allocations_ = 0;
    bool exact_ = false;
};

}  // namespace ouro::testing_support
