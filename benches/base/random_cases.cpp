#include "base/base_suite.hpp"
#include "harness/case.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/base/random.hpp>

#include <random>

namespace ouro::bench {
namespace {

constexpr std::uint64_t kSeed = 42;

// Each round draws from a generator of its own, so that all rounds draw the same numbers.
template <class Make, class Draw>
Work draws(Make make, Draw draw) {
    return [=](Round& round) {
        auto generator = make();
        std::uint64_t sum = 0;
        round.time([&] {
            for (std::uint64_t i = 0; i < round.operations(); ++i)
                sum += draw(generator);
        });
        round.check(sum);
    };
}

// Not counter-based in the way ours is, and far weaker: what 64 mixed bits cost at the very least.
struct SplitMix {
    std::uint64_t state;
    std::uint64_t next() noexcept { return mix_bits(state += 0x9e3779b97f4a7c15U); }
};

}  // namespace

void measure_random(Session& session) {
    const auto twister = [] { return std::mt19937_64(kSeed); };
    session.measure("random: the next 64 bits", kNanoseconds)
        .ours(draws([] { return Random(kSeed); }, [](Random& random) { return random.next(); }))
        .peer("mt19937_64", standard_library_version(),
              draws(twister, [](std::mt19937_64& generator) { return std::uint64_t{generator()}; }))
        .bound("splitmix64", draws([] { return SplitMix{kSeed}; }, [](SplitMix& mix) { return mix.next(); }))
        .different_results()
        .run();
    session.measure("random: below a bound", kNanoseconds)
        .ours(draws([] { return Random(kSeed); },
                    [](Random& random) { return std::uint64_t{random.below(1'000)}; }))
        .peer("uniform_int over mt", standard_library_version(),
              draws(twister,
                    [](std::mt19937_64& generator) {
                        return std::uint64_t{std::uniform_int_distribution<std::uint32_t>(0, 999)(generator)};
                    }))
        .different_results()
        .run();
    session.measure("random: any place of any stream", kNanoseconds)
        .ours(repeat([](std::uint64_t i) { return random_at(kSeed, i, i >> 3); }))
        .different_results()
        .run();
}

}  // namespace ouro::bench
