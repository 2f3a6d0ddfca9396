// A program that replaces the two plain operators only and relies, as it may, on the others calling them.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {
long g_news = 0;
long g_deletes = 0;
constexpr std::size_t kFront = 64;
}  // namespace

// Not what malloc returned: an operator that frees it as such would be noticed at once.
void* operator new(std::size_t size) {
    ++g_news;
    auto* const block = static_cast<char*>(std::malloc(size + kFront));
    if (block == nullptr) throw std::bad_alloc();
    return block + kFront;
}
void operator delete(void* block) noexcept {
    if (block == nullptr) return;
    ++g_deletes;
    std::free(static_cast<char*>(block) - kFront);
}

int main() {
    {
        std::vector<std::string> texts;
        for (int count = 0; count < 1000; ++count)
            texts.emplace_back(100, 'x');
        const auto array = std::make_unique<int[]>(500);
        const auto object = std::make_unique<std::string>(200, 'y');
        delete new (std::nothrow) int;
        delete[] new (std::nothrow) int[70];
        operator delete(operator new(50), std::size_t{50});
        operator delete[](operator new[](50), std::size_t{50});
    }
    std::printf("%s\n", g_news == g_deletes && g_news > 1000 ? "all replaced" : "some went elsewhere");
    return g_news == g_deletes && g_news > 1000 ? 0 : 1;
}
