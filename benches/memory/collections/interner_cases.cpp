#include "harness/case.hpp"
#include "harness/must.hpp"
#include "harness/peers.hpp"
#include "memory/collections/collection_suite.hpp"
#include "memory/collections/counted_memory.hpp"

#include <ouro/base/random.hpp>
#include <ouro/memory/collections/string_interner.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ouro::bench {
namespace {

using CountedString = std::basic_string<char, std::char_traits<char>, CountedAllocator<char>>;

// Lets the map look up views without making a string: the best that it can do.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};
using Map = std::unordered_map<CountedString, std::uint32_t, TextHash, std::equal_to<>,
                               CountedAllocator<std::pair<const CountedString, std::uint32_t>>>;

// Names as engines have them: paths of a few parts.
std::vector<std::string> make_names(std::size_t count) {
    std::vector<std::string> names;
    Random random(7);
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back("creatures/kind" + std::to_string(random.below(50)) + "/part" +
                        std::to_string(random.below(1000)) + "_" + std::to_string(i));
    }
    return names;
}

std::uint32_t intern_in(Map& map, MemoryCount& memory, std::string_view text) {
    const auto found = map.find(text);
    if (found != map.end()) return found->second;
    const auto id = static_cast<std::uint32_t>(map.size());
    map.emplace(CountedString(text, CountedAllocator<char>(memory)), id);
    return id;
}

void measure_adding(Session& session, const std::vector<std::string>& names) {
    session.measure("interner: add " + std::to_string(names.size()) + " names", kNanoseconds)
        .ours([&](Round& round) {
            std::uint64_t sum = 0;
            CountedResource memory;
            StringInterner interner(memory);
            round.time([&] {
                for (const std::string& name : names)
                    sum += static_cast<std::uint64_t>(*interner.intern(name));
            });
            round.check(sum);
            round.use_memory(memory.count().live_bytes);
        })
        .peer("std::unordered_map", standard_library_version(),
              [&](Round& round) {
                  std::uint64_t sum = 0;
                  MemoryCount memory;
                  Map map{CountedAllocator<std::pair<const CountedString, std::uint32_t>>(memory)};
                  round.time([&] {
                      for (const std::string& name : names)
                          sum += intern_in(map, memory, name);
                  });
                  round.check(sum);
                  round.use_memory(memory.live_bytes);
              })
        .operations(names.size())
        .bar(ratio_at_most(1.0))
        .run();
}

void measure_finding(Session& session, const std::vector<std::string>& names) {
    CountedResource ours;
    MemoryCount theirs;
    StringInterner interner(ours);
    Map map{CountedAllocator<std::pair<const CountedString, std::uint32_t>>(theirs)};
    for (const std::string& name : names) {
        must(interner.intern(name), "intern");
        intern_in(map, theirs, name);
    }
    // Asked in another order than they came.
    std::vector<std::string_view> asked(names.begin(), names.end());
    Random(3).shuffle(std::span(asked));
    session.measure("interner: find among " + std::to_string(names.size()), kNanoseconds)
        .ours(repeat([&](std::uint64_t i) {
            return static_cast<std::uint64_t>(*interner.find(asked[i % asked.size()]));
        }))
        .peer("std::unordered_map", standard_library_version(), repeat([&](std::uint64_t i) {
                  return std::uint64_t{map.find(asked[i % asked.size()])->second};
              }))
        .bar(ratio_at_most(1.0))
        .run();
}

}  // namespace

void measure_interner(Session& session) {
    for (const std::uint64_t count : {std::uint64_t{1'000}, session.sized(100'000, 2'000)}) {
        const auto names = make_names(count);
        measure_adding(session, names);
        measure_finding(session, names);
    }
}

}  // namespace ouro::bench
