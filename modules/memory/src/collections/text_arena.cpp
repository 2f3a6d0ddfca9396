#include <ouro/memory/collections/text_arena.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace ouro {

namespace {

// Blocks double up to a limit: a small arena stays small, a large one makes few requests.
constexpr std::size_t kFirstBlockBytes = 1024;
constexpr std::size_t kMaxDoublings = 8;
constexpr std::size_t kTextAlignment = 8;

}  // namespace

TextArena::TextArena(TextArena&& other) noexcept
    : blocks_(std::move(other.blocks_)),
      next_block_(std::exchange(other.next_block_, 0)),
      cursor_(std::exchange(other.cursor_, nullptr)),
      limit_(std::exchange(other.limit_, nullptr)),
      used_bytes_(std::exchange(other.used_bytes_, 0)),
      block_bytes_(std::exchange(other.block_bytes_, 0)) {}

TextArena& TextArena::operator=(TextArena&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

Expected<std::string_view> TextArena::store(std::string_view text) noexcept {
    const auto bytes = checked_add<std::size_t>(text.size(), 1);
    if (!bytes) return bytes.status();
    while (*bytes > static_cast<std::size_t>(limit_ - cursor_)) {
        if (use_next_block(*bytes)) continue;
        const Status added = add_block(*bytes);
        if (added != Status::ok) return added;
    }
    char* const copy = reinterpret_cast<char*>(cursor_);
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    cursor_ += *bytes;
    used_bytes_ += *bytes;
    return std::string_view(copy, text.size());
}

// A block too small for this text stays free for another.
bool TextArena::use_next_block(std::size_t bytes) noexcept {
    for (std::size_t i = next_block_; i < blocks_.size(); ++i) {
        if (blocks_[i].size < bytes) continue;
        std::swap(blocks_[i], blocks_[next_block_]);
        cursor_ = blocks_[next_block_].begin();
        limit_ = blocks_[next_block_].end();
        ++next_block_;
        return true;
    }
    return false;
}

Status TextArena::add_block(std::size_t bytes) noexcept {
    const auto doublings = static_cast<unsigned>(std::min<std::size_t>(blocks_.size(), kMaxDoublings));
    const std::size_t usual = kFirstBlockBytes << doublings;
    const Expected<MemoryBlock*> entry = blocks_.emplace_back();
    if (!entry) return entry.status();
    auto block = blocks_.allocator().allocate(std::max(usual, bytes), kTextAlignment);
    if (!block && bytes < usual) block = blocks_.allocator().allocate(bytes, kTextAlignment);
    if (!block) {
        blocks_.pop_back();
        return block.status();
    }
    **entry = *block;
    block_bytes_ += block->size;
    return Status::ok;
}

void TextArena::clear() noexcept {
    next_block_ = 0;
    cursor_ = limit_ = nullptr;
    used_bytes_ = 0;
}

void TextArena::release() noexcept {
    clear();
    for (const MemoryBlock block : blocks_)
        blocks_.allocator().deallocate(block, kTextAlignment);
    blocks_.release();
    block_bytes_ = 0;
}

}  // namespace ouro
