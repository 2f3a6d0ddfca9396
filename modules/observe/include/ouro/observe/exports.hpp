#pragma once

#include <ouro/observe/byte_sink.hpp>
#include <ouro/observe/profiler.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

// What was observed, in the formats that viewers open. The writers allocate nothing and hold no lock while
// they hand bytes on: they may be called beside a running program.
//
//     write_pprof({.write = append_to_file, .context = &file});     // then: pprof -http=: file
namespace ouro {

// What code is called in an export. Without one, and where it writes nothing: the file and the place in it,
// as addr2line takes it.
struct FrameNames {
    // Writes a name that ends with a zero. The address lies within the call.
    void (*describe)(void* context, std::uint64_t address, std::span<char> name) = nullptr;
    void* context = nullptr;
};

// Chrome's trace format (JSON), for Perfetto and chrome://tracing: the timeline as counter tracks, the events
// as instants.
void write_chrome_trace(const ByteSink& sink) noexcept;

// One line a site, for flamegraph.pl, speedscope and others: the tags, then the stack, outermost first, then
// the bytes. Sites without any are left out.
void write_folded_stacks(const ByteSink& sink, SiteOrder what = SiteOrder::live,
                         const FrameNames& names = {}) noexcept;

// profile.proto as pprof and others read it, not compressed: objects and bytes in use and allocated.
void write_pprof(const ByteSink& sink, const FrameNames& names = {}) noexcept;

// The largest sites as text for people, at most kMostReportedSites.
inline constexpr std::size_t kMostReportedSites = 32;
void write_top_sites(const ByteSink& sink, SiteOrder order = SiteOrder::live, std::size_t count = 10,
                     const FrameNames& names = {}) noexcept;

}  // namespace ouro
