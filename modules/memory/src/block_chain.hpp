#pragma once

#include <ouro/memory/annotations.hpp>
#include <ouro/memory/detail/size_classes.hpp>

#include <cstddef>
#include <cstdint>

// Free blocks of one class on their way from one thread to another. They travel in bundles: a block that
// holds the next bundle in its first word, and in the others as many more blocks as it has room for. Whoever
// receives them looks into one block of many, and waits once for what another core has in its cache.
namespace ouro::detail {

class BlockChain {
public:
    explicit BlockChain(unsigned size_class) noexcept : room_(room_in(size_class)) {}

    [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

    void add(void* block) noexcept {
        ++count_;
        if (first_ != nullptr && named_ != room_) {
            set_word(first_, ++named_, block);
            return;
        }
        set_word(block, 0, first_);
        if (first_ == nullptr) last_ = block;
        first_ = block;
        named_ = 0;
    }

    // To be called before others look at it.
    void close() noexcept {
        if (named_ != room_) set_word(first_, named_ + 1, nullptr);
    }
    [[nodiscard]] void* first() const noexcept { return first_; }
    // Puts the bundles of another chain of the class behind its own.
    void join(void* others) noexcept { set_word(last_, 0, others); }

    // Calls visit(block) for every block of the bundles; each may be written to from then on.
    template <class Visit>
    static std::uint32_t for_each(void* bundle, unsigned size_class, Visit visit) noexcept {
        const std::uint32_t room = room_in(size_class);
        std::uint32_t visited = 0;
        while (bundle != nullptr) {
            void* const next = word(bundle, 0);
            __builtin_prefetch(next);
            for (std::uint32_t index = 1; index <= room; ++index) {
                void* const block = word(bundle, index);
                if (block == nullptr) break;
                visit(block);
                ++visited;
            }
            visit(bundle);
            ++visited;
            bundle = next;
        }
        return visited;
    }

private:
    static constexpr std::uint32_t kMostRoom = 31;

    [[nodiscard]] static constexpr std::uint32_t room_in(unsigned size_class) noexcept {
        const std::size_t words = kClassBytes[size_class] / sizeof(void*) - 1;
        return words < kMostRoom ? static_cast<std::uint32_t>(words) : kMostRoom;
    }
    // The blocks are free, and sanitizers know it.
    OURO_LOOKS_INTO_FREE_MEMORY [[nodiscard]] static void* word(void* block, std::uint32_t index) noexcept {
        const annotate::QuietScope quiet;
        void* const value = static_cast<void**>(block)[index];
        annotate::trust(value);
        return value;
    }
    OURO_LOOKS_INTO_FREE_MEMORY static void set_word(void* block, std::uint32_t index, void* value) noexcept {
        const annotate::QuietScope quiet;
        static_cast<void**>(block)[index] = value;
    }

    std::uint32_t room_;
    std::uint32_t named_ = 0;
    std::uint32_t count_ = 0;
    void* first_ = nullptr;
    void* last_ = nullptr;
};

}  // namespace ouro::detail
