#pragma once

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/memory_resource.hpp>
#include <ouro/memory/no_allocation_scope.hpp>
#include <ouro/streams/detail/frame_core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ouro {

// One thread's way into a FrameStream: allocates from a chunk of its own, without any atomic step but the
// look at the frame's number. What it gives is valid for the rest of the frame and the whole of the next.
// Blocks are not freed one by one, except that the newest can grow, shrink and go.
//
// It is a MemoryResource, so that containers can live for a frame. Requires: the FrameStream lives longer
// (assert), and one thread at a time.
class FrameWriter final : public MemoryResource {
public:
    // Where the writer was: rewinding to it frees what this writer allocated since.
    struct Marker {
        std::uint64_t frame = 0;
        detail::FrameChunk* chunk = nullptr;
        std::uintptr_t cursor = 0;
    };

    FrameWriter(FrameWriter&& other) noexcept;
    FrameWriter& operator=(FrameWriter&&) = delete;
    ~FrameWriter();

    // Fails with zero_size, bad_alignment, size_overflow, capacity_exhausted (the frame is full), sealed or
    // out_of_memory; FrameStream::last_refusal() names the stream.
    [[nodiscard]] Expected<MemoryBlock> allocate(
        std::size_t size, std::size_t alignment = kDefaultAlignment) noexcept override {
        note_allocation();
        const std::uintptr_t start = (cursor_ + (alignment - 1)) & ~(alignment - 1);
        const bool fits = start >= cursor_ && start <= limit_ && size <= limit_ - start;
        const bool is_ready = fits && frame_ == core_->frame.load(std::memory_order_relaxed);
        if (is_ready && check_allocation(size, alignment) == Status::ok) [[likely]] {
            __builtin_prefetch(reinterpret_cast<const void*>(cursor_ + kFetchAheadBytes), 1);
            cursor_ = start + size;
            ++allocations_;
            const MemoryBlock block{reinterpret_cast<std::byte*>(start), size};
            annotate::permit(block);
            return block;
        }
        return allocate_slow(size, alignment);
    }

    // The newest block goes back; of any other, nothing happens until the frame is gone.
    void deallocate(MemoryBlock block,
                    [[maybe_unused]] std::size_t alignment = kDefaultAlignment) noexcept override {
        if (is_newest(block) && is_current()) move_back_to(reinterpret_cast<std::uintptr_t>(block.data));
    }
    [[nodiscard]] Expected<MemoryBlock> reallocate(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;
    // Any block can become smaller; only the newest can grow, within its chunk.
    [[nodiscard]] Expected<MemoryBlock> try_resize(
        MemoryBlock block, std::size_t new_size, std::size_t alignment = kDefaultAlignment) noexcept override;

    // An object that lives for the frame.
    template <class T, class... Args>
    [[nodiscard]] Expected<T*> make(Args&&... args) noexcept {
        check_type<T>();
        const auto block = allocate(sizeof(T), alignof(T));
        if (!block) return block.status();
        return std::construct_at(reinterpret_cast<T*>(block->data), std::forward<Args>(args)...);
    }
    // So many objects, each as T{} makes it; an empty span for none.
    template <class T>
    [[nodiscard]] Expected<std::span<T>> make_span(std::size_t count) noexcept {
        const auto objects = take_array<T>(count);
        if (objects) std::uninitialized_value_construct(objects->begin(), objects->end());
        return objects;
    }
    // Copies of objects.
    template <class T>
    [[nodiscard]] Expected<std::span<T>> copy_span(std::span<const T> source) noexcept {
        static_assert(std::is_trivially_copyable_v<T>, "copied as bytes: use make_span and copy one by one");
        const auto objects = take_array<T>(source.size());
        if (objects && !source.empty()) std::memcpy(objects->data(), source.data(), source.size_bytes());
        return objects;
    }
    // A copy of the text with a zero behind it.
    [[nodiscard]] Expected<std::string_view> make_string(std::string_view text) noexcept {
        const auto block = allocate(text.size() + 1, 1);
        if (!block) return block.status();
        auto* const letters = reinterpret_cast<char*>(block->data);
        if (!text.empty()) std::memcpy(letters, text.data(), text.size());
        letters[text.size()] = '\0';
        return std::string_view(letters, text.size());
    }

    [[nodiscard]] Marker mark() const noexcept;
    // A mark of an earlier frame is of memory that is gone with it: nothing happens then. Requires: this
    // writer's mark, which was not rewound over since (assert where it can be seen).
    void rewind(Marker marker) noexcept;
    // The same for those who see the contract only.
    [[nodiscard]] Expected<ResourceMark> place_mark() noexcept override;
    void free_since(ResourceMark mark) noexcept override;

    // True for addresses of the chunks that this writer has in the current frame.
    [[nodiscard]] bool owns(const void* address) const noexcept override;
    [[nodiscard]] ResourceInfo info() const noexcept override;
    // What it holds of the current frame; the counts since its beginning.
    [[nodiscard]] ResourceStats stats() const noexcept override;
    [[nodiscard]] Status check() const noexcept override;

private:
    friend class FrameStream;
    explicit FrameWriter(detail::FrameCore& core) noexcept;

    // See BumpRange::fetch_ahead.
    static constexpr std::size_t kFetchAheadBytes = 8 * 1024;

    template <class T>
    static constexpr void check_type() noexcept {
        static_assert(std::is_trivially_destructible_v<T>,
                      "nobody destroys what lives in a frame: use a type without a destructor, such as a "
                      "span or string_view of this writer, or a pool for objects that own something");
    }
    template <class T>
    [[nodiscard]] Expected<std::span<T>> take_array(std::size_t count) noexcept {
        check_type<T>();
        if (count == 0) return std::span<T>();
        const auto bytes = checked_multiply(count, sizeof(T));
        if (!bytes) return bytes.status();
        const auto block = allocate(*bytes, alignof(T));
        if (!block) return block.status();
        return std::span<T>(reinterpret_cast<T*>(block->data), count);
    }

    [[nodiscard]] detail::FrameCore& core() const noexcept {
        OURO_ASSERT(core_ != nullptr, "the writer was moved from");
        return *core_;
    }
    [[nodiscard]] bool is_newest(MemoryBlock block) const noexcept {
        return !block.is_null() && reinterpret_cast<std::uintptr_t>(block.end()) == cursor_;
    }
    [[nodiscard]] bool is_current() const noexcept {
        return frame_ == core().frame.load(std::memory_order_acquire);
    }
    void move_back_to(std::uintptr_t cursor) noexcept {
        annotate::forbid({reinterpret_cast<std::byte*>(cursor), cursor_ - cursor});
        note_peak();
        cursor_ = cursor;
    }
    [[gnu::cold, gnu::noinline]] Expected<MemoryBlock> allocate_slow(std::size_t size,
                                                                     std::size_t alignment) noexcept;
    [[nodiscard]] Expected<MemoryBlock> resize(MemoryBlock newest, std::size_t new_size) noexcept;
    void enter_current_frame() noexcept;
    [[nodiscard]] Status enter_chunk(std::size_t bytes) noexcept;
    void move_into(detail::FrameChunk* chunk) noexcept;
    void note_peak() noexcept {
        if (used_bytes() > peak_bytes_) peak_bytes_ = used_bytes();
    }
    void tell_counts() noexcept;
    [[nodiscard]] std::size_t used_bytes() const noexcept {
        return chunk_ == nullptr ? 0 : used_before_ + (cursor_ - begin_);
    }

    std::uintptr_t cursor_ = 0;
    std::uintptr_t limit_ = 0;
    detail::FrameCore* core_;
    // The frame that the chunks are of.
    std::uint64_t frame_ = 0;
    std::uint64_t allocations_ = 0;
    std::uint64_t told_allocations_ = 0;
    // Not told yet.
    std::uint64_t chunks_taken_ = 0;
    std::uint64_t failures_ = 0;
    std::size_t peak_bytes_ = 0;
    // Of the current chunk, without looking into it: it may be gone.
    std::uintptr_t begin_ = 0;
    std::size_t used_before_ = 0;
    detail::FrameChunk* first_ = nullptr;
    detail::FrameChunk* chunk_ = nullptr;
};

// Frees at the end of a scope what its writer allocated in it, if the frame has not ended before.
class FrameWriterScope {
public:
    explicit FrameWriterScope(FrameWriter& writer) noexcept : writer_(writer), start_(writer.mark()) {}
    ~FrameWriterScope() { writer_.rewind(start_); }
    FrameWriterScope(const FrameWriterScope&) = delete;
    FrameWriterScope& operator=(const FrameWriterScope&) = delete;

private:
    FrameWriter& writer_;
    FrameWriter::Marker start_;
};

}  // namespace ouro
