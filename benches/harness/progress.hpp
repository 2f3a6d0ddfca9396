#pragma once

#include <cstdint>
#include <string_view>

namespace ouro::bench {

// Shows on stderr what is being measured: one line rewritten in place on a terminal, a line now and then
// elsewhere.
class Progress {
public:
    Progress() noexcept;

    void show(std::string_view text);
    // Leaves the line free for something else.
    void clear();

private:
    bool terminal_;
    bool shown_ = false;
    std::uint64_t next_ns_ = 0;
};

}  // namespace ouro::bench
