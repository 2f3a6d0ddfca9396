#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace ouro::bench {

// A shared library of a peer, closed with the last copy. Empty when it was not found.
class PeerLibrary {
public:
    PeerLibrary() = default;
    explicit PeerLibrary(void* handle);

    [[nodiscard]] bool is_loaded() const noexcept { return handle_ != nullptr; }

    // The function of that name, or null when the library has none.
    template <class Function>
    [[nodiscard]] Function* function(const char* name) const noexcept {
        return reinterpret_cast<Function*>(symbol(name));
    }

private:
    [[nodiscard]] void* symbol(const char* name) const noexcept;

    std::shared_ptr<void> handle_;
};

// Where the libraries to compare with are: the folder of --peers, and behind it the system's own.
class PeerFolder {
public:
    PeerFolder() = default;
    explicit PeerFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // Loads lib<name>.so from the folder, its lib/ or its <name>/, else from the system (with the number of
    // the interface appended there, e.g. libz.so.1, since the plain name belongs to development packages).
    [[nodiscard]] PeerLibrary load(std::string_view name, std::string_view interface_number = {}) const;

private:
    std::filesystem::path folder_;
};

// Versions of what every machine has, e.g. "Linux 6.12.3", "glibc 2.36", "libstdc++ 12".
[[nodiscard]] std::string kernel_version();
[[nodiscard]] std::string libc_version();
[[nodiscard]] std::string standard_library_version();

}  // namespace ouro::bench
