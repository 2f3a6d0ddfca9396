#pragma once

#include <ouro/os/clock.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ouro::bench {

// Makes the compiler believe that the value is used and that memory was looked at.
template <class T>
inline void keep(const T& value) noexcept {
    asm volatile("" : : "g"(&value) : "memory");
}

// One round of one candidate. What happens outside time() is free: prepare there.
class Round {
public:
    explicit Round(std::uint64_t operations) noexcept : operations_(operations) {}

    // How many operations to do; the result is the time of one.
    [[nodiscard]] std::uint64_t operations() const noexcept { return operations_; }

    // Measures the work; several calls in a round add up.
    template <class Work>
    void time(Work&& work) {
        const std::uint64_t begin = os::monotonic_ns();
        std::forward<Work>(work)();
        elapsed_ns_ += static_cast<double>(os::monotonic_ns() - begin);
    }
    // For a time that was taken elsewhere.
    void add_time(double nanoseconds) noexcept { elapsed_ns_ += nanoseconds; }
    // For a figure that is no time, such as bytes: shown as it is when the unit is a plain one and the case
    // has one operation.
    void add_figure(double figure) noexcept { elapsed_ns_ += figure; }

    // What the work computed. Must be equal in every round and, unless the case says otherwise, for every
    // candidate: proof that the same work was done.
    void check(std::uint64_t checksum) noexcept { checksum_ = checksum; }

    // The memory that the work needed, for the memory columns.
    void use_memory(std::uint64_t bytes) noexcept { memory_bytes_ = bytes; }

    [[nodiscard]] double elapsed_ns() const noexcept { return elapsed_ns_; }
    [[nodiscard]] std::optional<std::uint64_t> checksum() const noexcept { return checksum_; }
    [[nodiscard]] std::optional<std::uint64_t> memory_bytes() const noexcept { return memory_bytes_; }

private:
    std::uint64_t operations_;
    double elapsed_ns_ = 0;
    std::optional<std::uint64_t> checksum_;
    std::optional<std::uint64_t> memory_bytes_;
};

using Work = std::function<void(Round&)>;

// The usual work: calls operation(i) for i = 0, 1, ... and sums what it returns, if anything, as the
// checksum.
template <class Operation>
[[nodiscard]] Work repeat(Operation operation) {
    return [operation](Round& round) mutable {
        if constexpr (std::convertible_to<decltype(operation(std::uint64_t{})), std::uint64_t>) {
            std::uint64_t sum = 0;
            round.time([&] {
                for (std::uint64_t i = 0; i < round.operations(); ++i)
                    sum += static_cast<std::uint64_t>(operation(i));
            });
            round.check(sum);
        } else {
            round.time([&] {
                for (std::uint64_t i = 0; i < round.operations(); ++i)
                    operation(i);
            });
        }
    };
}

struct Candidate {
    std::string name;
    Work work;
};

enum class Statistic : unsigned char { minimum, median };

struct Plan {
    // Measured rounds; one more comes first and is thrown away.
    unsigned rounds = 21;
    // Operations a round, or zero: as many as the first candidate does in about target_ns.
    std::uint64_t operations = 0;
    double target_ns = 2e6;
    Statistic statistic = Statistic::minimum;
    // False where candidates rightly compute different things; each must still agree with itself.
    bool same_results = true;
};

struct Outcome {
    // Of one operation.
    double ns = 0;
    std::optional<std::uint64_t> memory_bytes;
};

// Called before each turn of a candidate with the number of the round (0 is the warm-up).
using TurnObserver = std::function<void(unsigned round, const Candidate& candidate)>;

// Runs all candidates in turn, round after round, each round starting with another one, so that a disturbance
// of the machine meets them all. Returns their outcomes in the given order. Throws std::runtime_error when
// checksums disagree.
[[nodiscard]] std::vector<Outcome> run_alternating(std::span<const Candidate> candidates, const Plan& plan,
                                                   const TurnObserver& observer);

// Requires: not empty.
[[nodiscard]] double summarize(std::vector<double> values, Statistic statistic);

}  // namespace ouro::bench
