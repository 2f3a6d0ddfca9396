#include "ring_core.hpp"

#include <ouro/base/hash.hpp>
#include <ouro/os/other_process.hpp>
#include <ouro/os/process_memory.hpp>
#include <ouro/streams/verifier.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

namespace ouro {
namespace {

// What is masked may hold any value, but is rolled back like the rest.
bool counts(const StateRing& ring, FindingKind kind, std::uint64_t offset) noexcept {
    return kind == FindingKind::undeclared_write || !ring.is_masked(offset);
}

// Collects findings of one kind that touch, and hands them out with what belongs to them.
class Reporter {
public:
    Reporter(const StateRing& ring, const VerifyOptions& options, FindingFunction visit,
             void* function) noexcept
        : ring_(ring), options_(options), visit_(visit), function_(function) {}

    void add(FindingKind kind, std::uint64_t offset, std::uint64_t bytes) noexcept {
        if (!counts(ring_, kind, offset)) return;
        const bool goes_on = open_.bytes != 0 && open_.kind == kind && open_.offset + open_.bytes == offset;
        if (goes_on && kind == FindingKind::undeclared_write) {
            open_.bytes += bytes;
            return;
        }
        finish();
        open_ = {.kind = kind,
                 .offset = offset,
                 .bytes = bytes,
                 .address = ring_.image().data + static_cast<std::size_t>(offset),
                 .segment = {},
                 .owner = {}};
    }

    std::uint64_t finish() noexcept {
        if (open_.bytes == 0) return count_;
        for (const Segment& segment : ring_.segments())
            if (open_.offset - segment.offset < segment.bytes) open_.segment = segment.name();
        open_.owner = owner_of(open_.offset);
        visit_(function_, open_);
        open_ = {};
        return ++count_;
    }

private:
    [[nodiscard]] ImageOwner owner_of(std::uint64_t offset) const noexcept {
        const std::string_view name =
            options_.owner_of != nullptr ? options_.owner_of(options_.context, offset) : std::string_view();
        if (name.empty()) return find_owner(ring_, offset, options_.sources);
        return {.kind = OwnerKind::named, .name = ImageOwner::name_of(name)};
    }

    const StateRing& ring_;
    const VerifyOptions& options_;
    FindingFunction visit_;
    void* function_;
    Finding open_;
    std::uint64_t count_ = 0;
};

// All that is wrong with a page as one number: zero when nothing is.
class PageFault {
public:
    explicit PageFault(const StateRing& ring) noexcept : ring_(ring) {}

    void add(FindingKind kind, std::uint64_t offset, std::uint64_t bytes) noexcept {
        if (!counts(ring_, kind, offset)) return;
        const std::byte* at = ring_.image().data + static_cast<std::size_t>(offset);
        const std::uint64_t place = offset << 8 | static_cast<std::uint64_t>(kind);
        value_ = hash_bytes(at, static_cast<std::size_t>(bytes), combine_hash(value_, place)) | 1;
    }

    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    const StateRing& ring_;
    std::uint64_t value_ = 0;
};

template <class T>
T load(const std::byte* at) noexcept {
    T value{};
    std::memcpy(&value, at, sizeof(value));
    return value;
}

// What processors give for 0/0, with either sign: floats in words of four, doubles in words of eight.
bool is_nan_float(std::uint32_t bits) noexcept {
    return (bits & 0x7fff'ffffU) == 0x7fc0'0000U;
}
bool is_nan_double(std::uint64_t bits) noexcept {
    return (bits & 0x7fff'ffff'ffff'ffffU) == 0x7ff8'0000'0000'0000U;
}

template <class Target>
void compare_page(const std::byte* live, const std::byte* kept, std::uint64_t offset,
                  Target& target) noexcept {
    if (std::memcmp(live, kept, kStatePageBytes) == 0) return;
    for (std::size_t at = 0; at < kStatePageBytes; ++at)
        if (live[at] != kept[at]) target.add(FindingKind::undeclared_write, offset + at, 1);
}

template <class Target>
void find_nans(const std::byte* live, std::uint64_t offset, Target& target) noexcept {
    for (std::size_t at = 0; at < kStatePageBytes; at += 8) {
        if (is_nan_double(load<std::uint64_t>(live + at))) {
            target.add(FindingKind::not_a_number, offset + at, 8);
            continue;
        }
        for (const std::size_t half : {at, at + 4})
            if (is_nan_float(load<std::uint32_t>(live + half)))
                target.add(FindingKind::not_a_number, offset + half, 4);
    }
}

// Everything that this process could point to. Where an address is as short as any number, none can be told
// from a number, and none is looked for.
class AddressRanges {
public:
    AddressRanges() noexcept {
        if constexpr (sizeof(void*) < sizeof(std::uint64_t)) return;
        const auto add = [](std::string_view line, void* ranges) {
            return static_cast<AddressRanges*>(ranges)->add(line);
        };
        // Without the list nothing is an address.
        static_cast<void>(os::visit_mapping_lines(os::process_id(), add, this));
    }

    [[nodiscard]] bool hold(std::uint64_t word) const noexcept {
        const auto* behind =
            std::upper_bound(ranges_.data(), ranges_.data() + count_, word,
                             [](std::uint64_t value, const Range& range) { return value < range.end; });
        return behind != ranges_.data() + count_ && word >= behind->begin;
    }

private:
    struct Range {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };

    // A line begins with both addresses, ascending from line to line; neighbours become one range, and where
    // there are too many ranges those with the least between them.
    bool add(std::string_view line) noexcept {
        Range range;
        const char* const last = line.data() + line.size();
        const auto first = std::from_chars(line.data(), last, range.begin, 16);
        if (first.ec != std::errc() || first.ptr == last || *first.ptr != '-') return true;
        std::from_chars(first.ptr + 1, last, range.end, 16);
        if (count_ != 0 && ranges_[count_ - 1].end == range.begin) {
            ranges_[count_ - 1].end = range.end;
            return true;
        }
        if (count_ == ranges_.size()) join_nearest();
        ranges_[count_++] = range;
        return true;
    }

    // What lies between two of them counts as an address then: better than to miss one.
    void join_nearest() noexcept {
        std::size_t nearest = 1;
        const auto gap_before = [this](std::size_t at) { return ranges_[at].begin - ranges_[at - 1].end; };
        for (std::size_t at = 2; at < count_; ++at)
            if (gap_before(at) < gap_before(nearest)) nearest = at;
        ranges_[nearest - 1].end = ranges_[nearest].end;
        Range* const first = ranges_.data();
        std::copy(first + nearest + 1, first + count_, first + nearest);
        --count_;
    }

    std::array<Range, 1024> ranges_;
    std::size_t count_ = 0;
};

template <class Target>
void find_addresses(const std::byte* live, std::uint64_t offset, const AddressRanges& ranges,
                    Target& target) noexcept {
    for (std::size_t at = 0; at < kStatePageBytes; at += sizeof(std::uint64_t))
        if (ranges.hold(load<std::uint64_t>(live + at)))
            target.add(FindingKind::address, offset + at, sizeof(std::uint64_t));
}

bool is_portable(const StateRing& ring, std::uint64_t offset) noexcept {
    for (const Segment& segment : ring.segments())
        if (offset - segment.offset < segment.bytes) return segment.kind == SegmentKind::portable;
    return false;
}

// Writes to any page, and values in portable segments; in the order of their places.
class PageCheck {
public:
    PageCheck(const StateRing& ring, const VerifyOptions& options) noexcept
        : ring_(ring), options_(options) {}

    template <class Target>
    void run(std::uint64_t offset, const std::byte* kept, Target& target) const noexcept {
        const std::byte* live = ring_.image().data + static_cast<std::size_t>(offset);
        compare_page(live, kept, offset, target);
        if (!is_portable(ring_, offset)) return;
        if (options_.finds_nans) find_nans(live, offset, target);
        if (options_.finds_addresses) find_addresses(live, offset, ranges_, target);
    }

private:
    const StateRing& ring_;
    const VerifyOptions& options_;
    AddressRanges ranges_;
};

}  // namespace

std::string_view finding_name(FindingKind kind) noexcept {
    switch (kind) {
        case FindingKind::undeclared_write:
            return "undeclared write";
        case FindingKind::not_a_number:
            return "not a number";
        case FindingKind::address:
            return "address";
    }
    return "unknown";
}

Expected<std::uint64_t> verify_image(const StateRing& ring, const VerifyOptions& options,
                                     FindingFunction visit, void* function) noexcept {
    const auto newest = ring.view(ring.newest());
    if (!newest) return newest.status();
    Reporter reporter(ring, options, visit, function);
    const PageCheck check(ring, options);
    for (std::uint64_t offset = 0; offset < ring.image().size; offset += kStatePageBytes)
        check.run(offset, newest->page(static_cast<std::uint32_t>(offset >> kStatePageShift)), reporter);
    return reporter.finish();
}

// The newest versions are whole pages that nobody changes now: no view is needed, which might be refused.
void detail::verify_commit(const StateRing& ring, const RingCore& core) noexcept {
    CommitVerifier& verifier = *core.verifier();
    verifier.begin(ring.newest());
    const auto tell = [](void* told, const Finding& finding) {
        static_cast<CommitVerifier*>(told)->add(finding);
    };
    Reporter reporter(ring, verifier.options, tell, &verifier);
    const PageCheck check(ring, verifier.options);
    const std::span<std::uint64_t> before = core.verified_pages();
    if (verifier.begins_anew()) std::ranges::fill(before, std::uint64_t{0});
    for (std::uint32_t page = 0; page < before.size(); ++page) {
        const std::uint64_t offset = std::uint64_t{page} << kStatePageShift;
        PageFault fault(ring);
        check.run(offset, core.newest_page(page), fault);
        if (fault.value() == std::exchange(before[page], fault.value()) || fault.value() == 0) continue;
        check.run(offset, core.newest_page(page), reporter);
    }
    reporter.finish();
}

void CommitVerifier::begin(Tick tick) noexcept {
    tick_ = tick;
    last_count_ = 0;
}

bool CommitVerifier::begins_anew() noexcept {
    return std::exchange(is_cleared_, false);
}

void CommitVerifier::add(const Finding& finding) noexcept {
    if (count_ < kMaxKept) kept_[static_cast<std::size_t>(count_)] = {.tick = tick_, .finding = finding};
    ++count_;
    ++last_count_;
    if (report_ != nullptr) report_(context_, tick_, finding);
}

std::span<const CommitFinding> CommitVerifier::kept() const noexcept {
    return std::span(kept_).first(static_cast<std::size_t>(std::min<std::uint64_t>(count_, kMaxKept)));
}

}  // namespace ouro
