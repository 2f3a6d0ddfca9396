// A sum of a million numbers on all cores, the same to the last bit on any number of them: each part is added
// up by whoever has time, and the parts are added in their order. Meanwhile a job waits for a worker with
// nothing better to do.
#include <ouro/jobs/job.hpp>
#include <ouro/jobs/parallel_for.hpp>

#include <array>
#include <cstdio>
#include <vector>

namespace {

// Depends on nothing but itself, least of all on the number of workers.
constexpr std::size_t kParts = 64;

float sum_of(ouro::JobPool& pool, const std::vector<float>& values) {
    std::array<float, kParts> sums{};
    ouro::parallel_for(pool, kParts, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t part = begin; part < end; ++part) {
            const ouro::IndexRange range = ouro::even_range(values.size(), kParts, part);
            for (std::size_t i = range.begin; i < range.end; ++i)
                sums[part] += values[i];
        }
    });
    float total = 0;
    for (const float sum : sums)
        total += sum;
    return total;
}

}  // namespace

int main() {
    std::vector<float> values(1'000'000);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 1.0F / static_cast<float>(i + 1);

    auto alone = ouro::JobPool::create({.workers = 0});
    auto many = ouro::JobPool::create({.workers = 7});
    if (!alone || !many) return 1;

    std::size_t negative = 0;
    ouro::JobWith look([&] {
        for (const float value : values)
            negative += value < 0 ? 1U : 0U;
    });
    if (!ouro::post(*many, look)) return 1;

    const float expected = sum_of(*alone, values);
    const float sum = sum_of(*many, values);
    ouro::wait(look);

    const ouro::JobPoolStats stats = many->stats();
    std::printf("%zu numbers add up to %.9g alone and to %.9g with %u workers\n", values.size(),
                static_cast<double>(expected), static_cast<double>(sum), many->worker_count());
    std::printf("calls %llu, stolen shares %llu, jobs %llu; %zu numbers are negative\n",
                static_cast<unsigned long long>(stats.body_calls),
                static_cast<unsigned long long>(stats.steals),
                static_cast<unsigned long long>(stats.finished_jobs), negative);
    return sum == expected && stats.finished_jobs == 1 && negative == 0 ? 0 : 1;
}
