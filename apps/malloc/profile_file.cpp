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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace ouro::process_heap {
namespace {

// The folder that the program began in, with a slash: it may go elsewhere. Nothing where its name is too
// long.
constexpr std::size_t kMostFolderName = 700;
char g_first_folder[kMostFolderName] = {};

void note_first_folder() noexcept {
    if (g_first_folder[0] != '\0') return;
    // Room for the slash.
    if (::getcwd(g_first_folder, sizeof g_first_folder - 1) == nullptr) {
        g_first_folder[0] = '\0';
        return;
    }
    const std::size_t length = std::strlen(g_first_folder);
    if (g_first_folder[length - 1] != '/') g_first_folder[length] = '/';
}

// The file's name with the process's number in place of %p, from the first folder.
class FileName {
public:
    explicit FileName(const char* pattern) noexcept {
        for (const char* at = pattern[0] == '/' ? "" : g_first_folder; *at != '\0'; ++at)
            add(*at);
        for (; *pattern != '\0'; ++pattern) {
            if (pattern[0] == '%' && pattern[1] == 'p') {
                add_number(static_cast<unsigned>(::getpid()));
                ++pattern;
            } else {
                add(*pattern);
            }
        }
    }

    void add_suffix(unsigned number) noexcept {
        add('.');
        add_number(number);
    }
    [[nodiscard]] const char* text() const noexcept { return text_; }
    // The one that it lies in.
    [[nodiscard]] FileName folder() const noexcept {
        FileName folder(*this);
        while (folder.length_ != 0 && folder.text_[folder.length_ - 1] != '/')
            --folder.length_;
        if (folder.length_ == 0) folder.add('.');
        folder.text_[folder.length_] = '\0';
        return folder;
    }
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

    char text_[kMostFolderName + kMostProfileName + 32] = {};
    std::size_t length_ = 0;
};

// When this process or the one it was forked from began, as files' times are given, and what stood under the
// name then: all zero for nothing. The clock of files stands still for milliseconds, in which one process may
// end and the next begin.
timespec g_begin = {};
struct stat g_found = {};

bool is_same(const timespec& one, const timespec& other) noexcept {
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

// Whether nobody has written it since, nor put another in its place.
bool is_as_found(const struct stat& file) noexcept {
    return file.st_dev == g_found.st_dev && file.st_ino == g_found.st_ino &&
           file.st_size == g_found.st_size && is_same(file.st_mtim, g_found.st_mtim);
}

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

enum class Format : unsigned char { recording, pprof, folded };

Format format_of(const FileName& name) noexcept {
    if (name.ends_with(".pb")) return Format::pprof;
    return name.ends_with(".folded") ? Format::folded : Format::recording;
}

// What a viewer opens.
Expected<void> write_export(const FileName& name, Format format) noexcept {
    File file{::open(name.text(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    if (file.descriptor < 0) return errno == ENOENT ? Status::not_found : Status::permission_denied;
    const ByteSink sink{[](void* context, std::string_view bytes) {
                            auto& to = *static_cast<File*>(context);
                            write_all(to.descriptor, bytes, to.is_written);
                        },
                        &file};
    const FrameNames names{.describe = name_function};
    if (format == Format::pprof) {
        write_pprof(sink, names);
    } else {
        write_folded_stacks(sink, SiteOrder::live, names);
    }
    if (::close(file.descriptor) != 0 || !file.is_written) return Status::io_error;
    return {};
}

// True when the file was written since this process began: by another one that has the same settings.
bool is_anothers(const FileName& name) noexcept {
    struct stat found{};
    if (::stat(name.text(), &found) != 0 || is_as_found(found)) return false;
    const timespec& written = found.st_mtim;
    if (written.tv_sec != g_begin.tv_sec) return written.tv_sec > g_begin.tv_sec;
    return written.tv_nsec >= g_begin.tv_nsec;
}

// Programs start others, which inherit the variable: nobody's profile is lost for that.
void keep_anothers(FileName& name) noexcept {
    if (!is_anothers(name)) return;
    TextBuffer text;
    text.add("OUROBOROS_MALLOC: another process has just written ").add(name.text());
    name.add_suffix(static_cast<unsigned>(::getpid()));
    text.add("; the profile of this one is ")
        .add(name.text())
        .add(" (%p in the name tells them apart)\n")
        .write();
}

Status may_write(const FileName& name, int rights) noexcept {
    if (::faccessat(AT_FDCWD, name.text(), rights, AT_EACCESS) == 0) return Status::ok;
    return errno == ENOENT || errno == ENOTDIR ? Status::not_found : Status::permission_denied;
}

// Whether there can be such a file, as far as that is known without making one. A recording is a new file
// that takes the place of a plain one; what is for viewers is written over whatever stands there.
Status may_write_profile(const FileName& name) noexcept {
    struct stat found{};
    if (::stat(name.text(), &found) != 0) return may_write(name.folder(), W_OK | X_OK);
    if (S_ISDIR(found.st_mode)) return Status::bad_argument;
    if (format_of(name) != Format::recording) return may_write(name, W_OK);
    return S_ISREG(found.st_mode) ? may_write(name.folder(), W_OK | X_OK) : Status::bad_argument;
}

void complain_about(const FileName& name, Status status) noexcept {
    TextBuffer text;
    text.add("OUROBOROS_MALLOC: cannot write the profile to ").add(name.text()).add(": ");
    text.add(status_name(status).data()).add("\n").write();
}

[[gnu::destructor]] void write_profile_at_exit() noexcept {
    if (!has_profile() || settings().profile_file[0] == '\0') return;
    FileName name(settings().profile_file);
    const Format format = format_of(name);
    keep_anothers(name);
    const auto written =
        format == Format::recording ? save_recording(name.text()) : write_export(name, format);
    if (!written) complain_about(name, written.status());
}

}  // namespace

void note_begin_of_profile() noexcept {
    // As coarse as the times of files, and so never later than one that is written from now on.
    ::clock_gettime(CLOCK_REALTIME_COARSE, &g_begin);
    if (settings().profile_file[0] == '\0') return;
    const int error_before = errno;
    note_first_folder();
    errno = error_before;
    if (!is_profiling()) return;
    const FileName name(settings().profile_file);
    if (::stat(name.text(), &g_found) != 0) g_found = {};
    if (const Status status = may_write_profile(name); status != Status::ok) complain_about(name, status);
    errno = error_before;
}

}  // namespace ouro::process_heap
