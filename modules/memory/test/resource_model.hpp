#pragma once

#include <ouro/base/random.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ouro::testing_support {

// Drives a resource with random calls and keeps its own record of every live block. Every byte of a block is
// filled from a stamp of its own, different at each place, and compared when the block is freed, moved or
// resized; a byte that changes behind the owner's back or goes to another place, a block that overlaps
// another, or one that is not aligned as asked fails the test.
class ResourceModel {
public:
    struct Limits {
        std::size_t max_size = 2000;
        std::size_t max_alignment = 256;
        std::size_t max_live_blocks = 200;
        // The size of one block in many; the others stay within max_size.
        std::size_t rare_size = 0;
        // A stack frees and changes its newest block only.
        bool newest_only = false;
        // False for a resource that cannot tell its addresses.
        bool asks_owner = true;
        // Marks are placed now and then, one above another, and freed to, where the resource has any.
        bool uses_marks = false;
        // What a refused call may say beside that memory, addresses or capacity ran out.
        Status other_refusal = Status::capacity_exhausted;
    };

    ResourceModel(MemoryResource& resource, const Limits& limits, std::uint64_t seed) noexcept
        : resource_(resource), limits_(limits), random_(seed) {}

    // One random call. Ends the test's hope with a failure when something is wrong.
    void step();
    void free_all();
    // Forgets the blocks without freeing them: for a resource that was reset as a whole.
    void forget_all() {
        blocks_.clear();
        marks_.clear();
    }

    // Compares every byte of every live block.
    void verify_all() const;

    [[nodiscard]] std::size_t live_blocks() const { return blocks_.size(); }
    // How many allocations failed since the last that was served, and in all.
    [[nodiscard]] std::size_t refusals_in_a_row() const { return refusals_in_a_row_; }
    [[nodiscard]] std::uint64_t refusals() const { return refusals_; }
    [[nodiscard]] std::uint64_t freed_marks() const { return freed_marks_; }

private:
    struct Live {
        MemoryBlock block;
        std::size_t asked;
        std::size_t alignment;
        std::uint32_t stamp;
    };
    // Blocks from `first` on are younger. Older ones are not changed until it is freed to.
    struct OpenMark {
        ResourceMark mark;
        std::size_t first;
    };

    void allocate();
    void free_one();
    void reallocate_one();
    void resize_one();
    void place_mark();
    void free_to_mark();
    // Where the blocks begin that may be changed.
    [[nodiscard]] std::size_t first_free_to_change() const {
        return marks_.empty() ? 0 : marks_.back().first;
    }
    [[nodiscard]] std::size_t random_size();
    [[nodiscard]] std::size_t random_index();
    // The block with one of the sizes that it may be returned with.
    [[nodiscard]] MemoryBlock as_returned(const Live& live);
    [[nodiscard]] bool is_refusal(Status status) const;
    void verify_new(const Live& live) const;
    static void fill(const Live& live);
    static void verify_stamp(const Live& live, std::size_t bytes);

    MemoryResource& resource_;
    Limits limits_;
    Random random_;
    std::vector<Live> blocks_;
    std::vector<OpenMark> marks_;
    std::uint64_t freed_marks_ = 0;
    std::uint32_t next_stamp_ = 1;
    std::size_t refusals_in_a_row_ = 0;
    std::uint64_t refusals_ = 0;
};

}  // namespace ouro::testing_support
