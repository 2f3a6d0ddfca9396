#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ouro::bench {

// A shared library of a peer. Empty when it was not found. It stays loaded until the process ends, for
// allocators leave callbacks behind in every thread that used them. Its symbols replace nobody's, and it uses
// its own before the program's: an allocator that calls free means its own.
class PeerLibrary {
public:
    PeerLibrary() = default;
    explicit PeerLibrary(void* handle) noexcept : handle_(handle) {}

    [[nodiscard]] bool is_loaded() const noexcept { return handle_ != nullptr; }

    // The function of that name, or null when the library has none.
    template <class Function>
    [[nodiscard]] Function* function(const char* name) const noexcept {
        return reinterpret_cast<Function*>(symbol(name));
    }

private:
    [[nodiscard]] void* symbol(const char* name) const noexcept;

    void* handle_ = nullptr;
};

// Where the libraries to compare with are: the folder of --peers, and behind it the system's own.
class PeerFolder {
public:
    PeerFolder() = default;
    explicit PeerFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // Loads lib<name>.so from the folder, its lib/ or its <name>/, else from the system. With the number of
    // an interface, e.g. libz.so.1, that file comes first in the folder, and it alone is looked for in the
    // system, where the plain name belongs to development packages.
    [[nodiscard]] PeerLibrary load(std::string_view name, std::string_view interface_number = {}) const;

private:
    [[nodiscard]] PeerLibrary load_from_folder(const std::string& file, std::string_view name) const;

    std::filesystem::path folder_;
};

// Versions of what every machine has, e.g. "Linux 6.12.3", "glibc 2.36", "libstdc++ 12".
[[nodiscard]] std::string kernel_version();
[[nodiscard]] std::string libc_version();
[[nodiscard]] std::string standard_library_version();

}  // namespace ouro::bench
