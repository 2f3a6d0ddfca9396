// How much memory a game may use is no question of its code: a text says it, a mistake in the text is told in
// words, and what the text says holds. Scripts may also not ask too often.
#include <ouro/memory/memory_options.hpp>
#include <ouro/memory/rate_limit.hpp>

#include <cstdio>

int main() {
    ouro::MemoryConfig config;
    ouro::ConfigProblem problem;
    char words[200] = {};
    if (ouro::parse_config("budget_bytes=lots", config, &problem)) return 1;
    ouro::describe_problem(problem, words);
    std::printf("%s\n", words);

    constexpr const char* kText =
        "budget_bytes=4M        # of all that is tagged\n"
        "heap_max_bytes=64M, largest_small_bytes=4K\n"
        "system_cache_bytes=1M";
    if (!ouro::parse_config(kText, config, &problem)) return 1;
    auto heap = ouro::SmallObjectAllocator::create(ouro::small_object_options(config));
    if (!heap) return 1;
    ouro::TaggedAllocator all(*heap, ouro::tagged_options(config));
    ouro::TaggedAllocator scripts(all, {.name = "scripts", .budget_bytes = std::size_t{1} << 20});
    // A thousand calls an hour: a script that loops does not stop the game.
    if (!scripts.set_rate_limit({.calls = 1000, .interval_ns = 3'600'000'000'000})) return 1;

    const auto world = all.allocate(std::size_t{3} << 20);
    const auto own_budget = scripts.allocate(std::size_t{2} << 20);
    const auto rest = all.allocate(std::size_t{2} << 20);
    int served = 0;
    for (ouro::Expected<ouro::MemoryBlock> block = scripts.allocate(100); block;
         block = scripts.allocate(100)) {
        scripts.deallocate(*block);
        ++served;
    }
    std::printf("a script's 2 MiB: %s; 2 MiB more than the world's: %s; small ones of a script: %d\n",
                ouro::status_name(own_budget.status()).data(), ouro::status_name(rest.status()).data(),
                served);
    const bool right = own_budget.status() == ouro::Status::budget_exceeded &&
                       rest.status() == ouro::Status::budget_exceeded && served >= 900 && served <= 2000 &&
                       scripts.failures(ouro::Status::rate_limited) == 1 && problem.key == "budget_bytes";
    if (!world) return 1;
    all.deallocate(*world);
    return right && all.counts().live_bytes == 0 ? 0 : 1;
}
