// What the setting `profile` leaves behind when the program ends.
#include "profiled_blocks.hpp"
#include "settings.hpp"
#include "text_output.hpp"

#include <ouro/observe/exports.hpp>
#include <ouro/observe/recording.hpp>

#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace ouro::process_heap {
namespace {

// The file's name with the process's number in place of %p, so that the children of a program do not write
// over each other.
class FileName {
public:
    explicit FileName(const char* pattern) noexcept {
        for (; *pattern != '\0'; ++pattern) {
            if (pattern[0] == '%' && pattern[1] == 'p') {
                add_number(static_cast<unsigned>(::getpid()));
                ++pattern;
            } else {
                add(*pattern);
            }
        }
    }

    [[nodiscard]] const char* text() const noexcept { return text_; }
    [[nodiscard]] bool ends_with(const char* end) const noexcept {
        const std::size_t bytes = std::strlen(end);
        return length_ >= bytes && std::strcmp(text_ + length_ - bytes, end) == 0;
    }

private:
    void add(char character) noexcept {
        if (length_ + 1 < sizeof text_) text_[length_++] = character;
    }
    void add_number(unsigned number) noexcept {
        if (number >= 10) add_number(number / 10);
        add(static_cast<char>('0' + number % 10));
    }

    char text_[kMostProfileName + 32] = {};
    std::size_t length_ = 0;
};

void write_all(int file, std::string_view bytes, bool& is_written) noexcept {
    while (!bytes.empty() && is_written) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        is_written = written > 0;
        if (is_written) bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

// The function's name where its library tells it; otherwise the place in the file is all there is.
void name_function(void*, std::uint64_t address, std::span<char> name) noexcept {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)), &info) == 0) return;
    if (info.dli_sname != nullptr) ::strncpy(name.data(), info.dli_sname, name.size() - 1);
}

struct File {
    int descriptor = -1;
    bool is_written = true;
};

// What a viewer opens.
Expected<void> write_export(const FileName& name) noexcept {
    File file{::open(name.text(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    if (file.descriptor < 0) return errno == ENOENT ? Status::not_found : Status::permission_denied;
    const ByteSink sink{[](void* context, std::string_view bytes) {
                            auto& to = *static_cast<File*>(context);
                            write_all(to.descriptor, bytes, to.is_written);
                        },
                        &file};
    const FrameNames names{.describe = name_function};
    if (name.ends_with(".pb")) {
        write_pprof(sink, names);
    } else {
        write_folded_stacks(sink, SiteOrder::live, names);
    }
    if (::close(file.descriptor) != 0 || !file.is_written) return Status::io_error;
    return {};
}

// In the format that the name asks for.
Expected<void> write_profile(const FileName& name) noexcept {
    return name.ends_with(".pb") || name.ends_with(".folded") ? write_export(name) : save_image(name.text());
}

[[gnu::destructor]] void write_profile_at_exit() noexcept {
    if (!is_profiling() || settings().profile_file[0] == '\0') return;
    const FileName name(settings().profile_file);
    const auto written = write_profile(name);
    if (written) return;
    TextBuffer text;
    text.add("OUROBOROS_MALLOC: cannot write the profile to ").add(name.text()).add(": ");
    text.add(status_name(written.status()).data()).add("\n").write();
}

}  // namespace
}  // namespace ouro::process_heap
