#include "listing_writer.hpp"

#include <ouro/os/code_place.hpp>
#include <ouro/os/stack_trace.hpp>
#include <ouro/os/thread.hpp>
#include <ouro/streams/escape_scope.hpp>

#include <algorithm>
#include <atomic>
#include <memory>

namespace ouro {
namespace detail {

// Where the calls of all threads meet; at an address that stays.
struct EscapeTable {
    std::atomic_flag is_locked = ATOMIC_FLAG_INIT;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::size_t site_count = 0;
    std::array<EscapeSite, EscapeScope::kMaxSites> sites{};
};

}  // namespace detail

namespace {

using detail::EscapeTable;

class Locked {
public:
    explicit Locked(EscapeTable& table) noexcept : table_(table) {
        while (table_.is_locked.test_and_set(std::memory_order_acquire))
            os::yield_thread();
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    ~Locked() { table_.is_locked.clear(std::memory_order_release); }

private:
    EscapeTable& table_;
};

EscapeSite* find_site(EscapeTable& table, const os::HeapCall& call) noexcept {
    const std::span known = std::span(table.sites).first(table.site_count);
    const auto found = std::ranges::find_if(known, [&](const EscapeSite& site) {
        return site.function == call.function && site.frames[0] == call.caller;
    });
    if (found != known.end()) return &*found;
    if (table.site_count == table.sites.size()) return nullptr;
    EscapeSite& fresh = table.sites[table.site_count++];
    fresh.function = call.function;
    fresh.frame_count = os::capture_callers(fresh.frames, call.caller);
    fresh.frames[0] = const_cast<void*>(call.caller);
    return &fresh;
}

void note(void* context, const os::HeapCall& call) {
    auto& table = *static_cast<EscapeTable*>(context);
    const Locked locked(table);
    ++table.calls;
    table.bytes += call.bytes;
    EscapeSite* site = find_site(table, call);
    if (site == nullptr) return;
    ++site->calls;
    site->bytes += call.bytes;
}

std::string_view library_of(const EscapeSite& site) noexcept {
    const auto place = os::find_code(site.code_of(0));
    if (!place) return "code without a file";
    const std::string_view path = place->module;
    return {path.data() + path.rfind('/') + 1, path.size() - (path.rfind('/') + 1)};
}

// What is told of a library.
class LibraryEscapes {
public:
    LibraryEscapes(std::span<const EscapeSite> sites, std::string_view library) noexcept : library_(library) {
        for (const EscapeSite& site : sites)
            if (library_of(site) == library) add(site);
    }

    void write(detail::ListingWriter& writer, CallSiteDescriber describer) const noexcept {
        writer.text(library_).text(": ").number(calls_);
        writer.text(calls_ == 1 ? " allocation, " : " allocations, ").number(bytes_).text(" B, first by ");
        write_place(writer, *first_, describer);
        if (count_ < 2) return;
        for (const EscapeSite* site : std::span(largest_).first(count_)) {
            writer.text("    ").number(site->calls).text(" of ").number(site->bytes).text(" B by ");
            write_place(writer, *site, describer);
        }
    }

private:
    static constexpr std::size_t kShown = 5;

    void add(const EscapeSite& site) noexcept {
        if (first_ == nullptr) first_ = &site;
        calls_ += site.calls;
        bytes_ += site.bytes;
        // Kept in descending order; what falls off the end is not shown.
        const EscapeSite* carried = &site;
        for (const EscapeSite*& place : std::span(largest_).first(count_))
            if (carried->bytes > place->bytes) std::swap(carried, place);
        if (count_ < kShown) largest_[count_++] = carried;
    }

    static void write_place(detail::ListingWriter& writer, const EscapeSite& site,
                            CallSiteDescriber describer) noexcept {
        std::array<char, 512> name{};
        describer(site.code_of(0), name);
        writer.text(site.function).text(" from ").text(name.data()).end_line();
    }

    std::string_view library_;
    std::uint64_t calls_ = 0;
    std::uint64_t bytes_ = 0;
    const EscapeSite* first_ = nullptr;
    std::array<const EscapeSite*, kShown> largest_{};
    std::size_t count_ = 0;
};

}  // namespace

EscapeTable& EscapeScope::table() const noexcept {
    OURO_ASSERT(!memory_.block().is_null(), "the scope was moved from");
    return *reinterpret_cast<EscapeTable*>(memory_.block().data);
}

Expected<EscapeScope> EscapeScope::begin(std::span<const std::string_view> libraries) noexcept {
    auto memory = os::Reservation::create({.bytes = sizeof(EscapeTable)});
    if (!memory) return memory.status();
    if (const auto done = memory->commit(0, memory->block().size); !done) return done.status();
    EscapeTable* table = std::construct_at(reinterpret_cast<EscapeTable*>(memory->block().data));
    auto watch = os::HeapCallWatch::create(libraries, note, table);
    if (!watch) return watch.status();
    return EscapeScope(*std::move(memory), *std::move(watch));
}

std::uint64_t EscapeScope::calls() const noexcept {
    const Locked locked(table());
    return table().calls;
}

std::uint64_t EscapeScope::bytes() const noexcept {
    const Locked locked(table());
    return table().bytes;
}

std::span<const EscapeSite> EscapeScope::sites() const noexcept {
    const Locked locked(table());
    return std::span(table().sites).first(table().site_count);
}

void EscapeScope::write(const ByteSink& sink, CallSiteDescriber describer) const noexcept {
    detail::ListingWriter writer(sink);
    // The names may be looked up by asking for memory, which would add to the table; its beginning stays.
    const std::span<const EscapeSite> seen = sites();
    for (std::size_t index = 0; index < seen.size(); ++index) {
        const std::string_view library = library_of(seen[index]);
        const auto before = seen.first(index);
        const bool is_told =
            std::ranges::any_of(before, [&](const EscapeSite& site) { return library_of(site) == library; });
        if (is_told) continue;
        LibraryEscapes(seen, library).write(writer, describer);
    }
}

}  // namespace ouro
