#pragma once

#include <ouro/base/expected.hpp>
#include <ouro/streams/image_owner.hpp>
#include <ouro/streams/state_ring.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace ouro {

enum class FindingKind : std::uint8_t {
    // The image differs from the last tick though nobody said so: it would be lost when the tick is restored.
    undeclared_write,
    // A float or double as processors give it for 0/0, with either sign; its bits differ between platforms.
    // NaNs with other bits, signalling ones or such as carry a number, are not told from numbers.
    not_a_number,
    // An address of this process in a portable segment: it means nothing elsewhere, nor after a restart.
    address,
};

[[nodiscard]] std::string_view finding_name(FindingKind kind) noexcept;

struct Finding {
    FindingKind kind = FindingKind::undeclared_write;
    // In the image.
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    const void* address = nullptr;
    // Empty: in the header, or between segments.
    std::string_view segment;
    // Who has the first of these bytes.
    ImageOwner owner{};
};

// Writes it as a sentence, cut where the text is full, with a zero at the end: "undeclared write: 4 bytes at
// 0x7f0c5c011388 (segment 'world', image offset 70536): byte 8 of root 'town' (112 bytes)". Returns what was
// written, without the zero.
std::string_view describe_finding(const Finding& finding, std::span<char> text) noexcept;

struct VerifyOptions {
    // Values that look like results of 0/0 or like addresses may be numbers by chance. They are looked for in
    // portable segments only.
    bool finds_nans = true;
    bool finds_addresses = true;
    // Containers that are asked who has these bytes, before the library looks for itself: see find_owner().
    std::span<const OwnerSource> sources = {};
    // Asked before all of them, for each finding: a name for what the library knows nothing of, such as
    // columns in plain memory. Empty: it does not know either.
    std::string_view (*owner_of)(void* context, std::uint64_t offset) = nullptr;
    void* context = nullptr;
};

using FindingFunction = void (*)(void* function, const Finding& finding);

// Compares the whole image with the newest tick. Call it after a commit, on the thread that commits, before
// anything is written: each difference was then written without a mark. Returns how many findings there were.
// For debug builds and tests: it reads everything. Fails as StateRing::view does.
Expected<std::uint64_t> verify_image(const StateRing& ring, const VerifyOptions& options,
                                     FindingFunction visit, void* function) noexcept;

template <class Visit>
Expected<std::uint64_t> verify_image(const StateRing& ring, const VerifyOptions& options,
                                     Visit&& visit) noexcept {
    using Function = std::remove_reference_t<Visit>;
    return verify_image(
        ring, options,
        [](void* function, const Finding& finding) { (*static_cast<Function*>(function))(finding); },
        const_cast<void*>(static_cast<const void*>(&visit)));
}

// What was wrong at the end of a tick. The segment's name is good as long as the ring is.
struct CommitFinding {
    Tick tick = 0;
    Finding finding{};
};

// Given to StateRingOptions::verifier: each commit compares the whole image as verify_image does, before it
// returns, also those within restore(), read_image() and sync_test(). A write that nobody declared is so
// named at the tick in which it happened. What stays as it is, is told once: a page is told of again only
// when something else is wrong in it than at the last commit, or when it was restored meanwhile. Takes
// eight bytes a page of the history.
//
//     CommitVerifier verifier({.sources = sources}, print_finding);
//     auto ring = StateRing::create({.segments = segments, .verifier = &verifier});
//
// Of one ring, and for the thread that commits.
class CommitVerifier {
public:
    // Told of each finding, in the order of their places. It must not change the ring.
    using ReportFunction = void (*)(void* context, Tick tick, const Finding& finding);
    static constexpr std::size_t kMaxKept = 32;

    constexpr CommitVerifier() noexcept = default;
    explicit CommitVerifier(const VerifyOptions& looks_for, ReportFunction report = nullptr,
                            void* context = nullptr) noexcept
        : options(looks_for), report_(report), context_(context) {}
    CommitVerifier(const CommitVerifier&) = delete;
    CommitVerifier& operator=(const CommitVerifier&) = delete;

    // May be changed between commits, for containers that come and go.
    VerifyOptions options;

    // Findings of all commits since the last clear(), and of the last commit.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t last_count() const noexcept { return last_count_; }
    // The first kMaxKept of them.
    [[nodiscard]] std::span<const CommitFinding> kept() const noexcept;
    // The next commit tells of all that is still wrong.
    void clear() noexcept {
        count_ = last_count_ = 0;
        is_cleared_ = true;
    }

    // For the ring.
    void begin(Tick tick) noexcept;
    // True once after clear().
    [[nodiscard]] bool begins_anew() noexcept;
    void add(const Finding& finding) noexcept;

private:
    ReportFunction report_ = nullptr;
    void* context_ = nullptr;
    Tick tick_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t last_count_ = 0;
    bool is_cleared_ = false;
    std::array<CommitFinding, kMaxKept> kept_{};
};

}  // namespace ouro
