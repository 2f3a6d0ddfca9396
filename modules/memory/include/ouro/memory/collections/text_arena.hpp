#pragma once

#include <ouro/memory/allocator.hpp>
#include <ouro/memory/collections/pooled_vector.hpp>

#include <cstddef>
#include <string_view>

namespace ouro {

// Copies of texts, packed one behind the other into blocks that never move. Each is followed by a zero, for
// functions that want C strings.
class TextArena {
public:
    explicit TextArena(Allocator allocator) noexcept : blocks_(allocator) {}
    TextArena(TextArena&& other) noexcept;
    TextArena& operator=(TextArena&& other) noexcept;
    ~TextArena() { release(); }

    // The copy, valid until clear(). Fails as the allocator does, or with size_overflow.
    [[nodiscard]] Expected<std::string_view> store(std::string_view text) noexcept;

    // Forgets all texts and keeps the blocks.
    void clear() noexcept;
    // Returns the blocks too.
    void release() noexcept;

    [[nodiscard]] std::size_t used_bytes() const noexcept { return used_bytes_; }
    [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
    [[nodiscard]] std::size_t blocks() const noexcept { return blocks_.size(); }

private:
    [[nodiscard]] bool use_next_block(std::size_t bytes) noexcept;
    [[nodiscard]] Status add_block(std::size_t bytes) noexcept;

    PooledVector<MemoryBlock> blocks_;
    // The block being filled is the one before this; those from here on are free since a clear().
    std::size_t next_block_ = 0;
    std::byte* cursor_ = nullptr;
    std::byte* limit_ = nullptr;
    std::size_t used_bytes_ = 0;
    std::size_t block_bytes_ = 0;
};

}  // namespace ouro
