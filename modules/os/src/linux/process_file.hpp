#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace ouro::os {

// The path "/proc/<process>/<name>", or with a number behind the name.
class ProcessFile {
public:
    ProcessFile(std::uint32_t process, std::string_view name) noexcept {
        add("/proc/");
        add(process);
        add("/");
        add(name);
    }
    ProcessFile(std::uint32_t process, std::string_view name, std::uint32_t number) noexcept
        : ProcessFile(process, name) {
        add(number);
    }
    [[nodiscard]] const char* path() const noexcept { return path_.data(); }

private:
    void add(std::string_view text) noexcept { end_ = std::ranges::copy(text, end_).out; }
    void add(std::uint32_t number) noexcept {
        end_ = std::to_chars(end_, path_.data() + path_.size() - 1, number).ptr;
    }

    // More than two numbers and the longest name need; what is behind the end is zero.
    std::array<char, 64> path_{};
    char* end_ = path_.data();
};

}  // namespace ouro::os
