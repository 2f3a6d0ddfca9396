#pragma once

#include "block_table_reader.hpp"
#include "image_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What a report tells, as plain values: made of records that nobody vouches for, so that every number was
// checked and every text is printable.
namespace ouro {

struct FailureCount {
    std::string reason;
    std::uint64_t count = 0;
};

// What may be asked for in so many seconds; either may be without a limit.
struct RateReport {
    std::optional<std::uint64_t> bytes;
    std::optional<std::uint64_t> requests;
    double seconds = 0;
};

// With all tags below it, except where it says otherwise.
struct TagReport {
    std::uint16_t id = 0;
    std::uint16_t parent = 0;
    // How many are above it; the untagged one is everything.
    unsigned depth = 0;
    std::string name;
    std::uint64_t live_bytes = 0;
    std::uint64_t live_blocks = 0;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t freed_bytes = 0;
    std::uint64_t peak_bytes = 0;
    bool is_peak_exact = true;
    // Of the tag alone.
    std::uint64_t own_live_bytes = 0;
    std::optional<std::uint64_t> soft_bytes;
    std::optional<std::uint64_t> hard_bytes;
    std::optional<RateReport> rate_limit;
    // Of the tag alone.
    std::vector<FailureCount> failures;
    // Whether it, or one below it, ever had a charge, a failure or a bound. Programs open accounts also by
    // asking for a tag's use.
    bool is_used = false;
    // Since the report before.
    std::optional<double> allocations_per_second;
    std::optional<double> allocated_bytes_per_second;
};

struct EventReport {
    std::uint64_t number = 0;
    // Before the moment of the report.
    double seconds_ago = 0;
    std::string kind;
    std::string tag;
    // Empty where it says nothing.
    std::string status;
    // Of pressure; empty for what has none.
    std::string level;
    std::uint64_t bytes = 0;
    std::uint64_t limit_bytes = 0;
    // How many such there were in a row.
    std::uint64_t count = 1;
};

// One watcher of a budget and of the machine.
struct MonitorReport {
    std::string tag;
    std::string level;
    std::string source;
    std::uint64_t used_bytes = 0;
    std::uint64_t limit_bytes = 0;
    std::uint64_t looks = 0;
    std::uint64_t level_changes = 0;
    std::uint64_t handler_calls = 0;
    std::uint64_t reliefs = 0;
    std::uint64_t failures = 0;
    std::uint64_t reported_bytes = 0;
    std::uint64_t freed_bytes = 0;
    double handler_seconds = 0;
    // From crossing a level to the first handler.
    std::uint64_t crossings = 0;
    double least_latency_seconds = 0;
    double median_latency_seconds = 0;
    double most_latency_seconds = 0;
};

struct HandlerCallReport {
    std::uint64_t number = 0;
    double seconds_ago = 0;
    double duration_seconds = 0;
    std::string handler;
    std::string tag;
    std::string level;
    std::string source;
    std::uint64_t wanted_bytes = 0;
    // What it said, and what the ledger saw.
    std::uint64_t reported_bytes = 0;
    std::uint64_t freed_bytes = 0;
};

struct FrameReport {
    std::uint64_t address = 0;
    // Empty and zero where they are not known.
    std::string function;
    std::string file;
    unsigned line = 0;
    std::string module;
    std::uint64_t module_offset = 0;
};

// Estimates.
struct AmountReport {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};

// A place that allocates.
struct SiteReport {
    // Zero: all those that found no room.
    std::size_t number = 0;
    std::string tag;
    AmountReport live;
    AmountReport allocated;
    AmountReport temporary;
    std::int64_t growth_bytes = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t samples = 0;
    std::uint64_t live_samples = 0;
    // Innermost first.
    std::vector<FrameReport> frames;
};

enum class SiteSorting { live, allocated, temporary, growth, peak };

struct ProfileReport {
    bool is_running = false;
    double seconds = 0;
    std::uint64_t mean_bytes = 0;
    std::uint64_t samples = 0;
    std::uint64_t dropped_sites = 0;
    std::uint64_t dropped_blocks = 0;
    AmountReport live;
    std::uint64_t peak_bytes = 0;
    SiteSorting sorting = SiteSorting::live;
    std::vector<SiteReport> sites;
    // Those that were left out.
    std::size_t empty_sites = 0;
};

struct TagMoment {
    std::string tag;
    std::uint64_t live_bytes = 0;
};

struct MomentReport {
    double seconds_ago = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t live_blocks = 0;
    std::uint64_t resident_bytes = 0;
    // Committed in the blocks that the program lists.
    std::uint64_t listed_bytes = 0;
    // What the records took then.
    std::uint64_t record_bytes = 0;
    // Resident, but neither live under a tag nor of the records; none where the system told nothing. What
    // allocators keep idle is in it.
    std::optional<std::uint64_t> untracked_bytes;
    // Since the program began.
    std::uint64_t allocated_bytes = 0;
    std::uint64_t freed_bytes = 0;
    std::uint64_t allocations = 0;
    // The largest, without those below them.
    std::vector<TagMoment> tags;
};

// A range of memory that the program lists.
struct BlockReport {
    std::string name;
    std::string tag;
    std::string kind;
    std::uint64_t reserved_bytes = 0;
    std::uint64_t committed_bytes = 0;
    // None while its owner has told of no use.
    std::optional<std::uint64_t> high_water_bytes;
};

// The blocks of one tag, without those of tags below it. A block with listed parts counts without them.
struct BlockTagReport {
    std::string tag;
    std::uint64_t blocks = 0;
    std::uint64_t committed_bytes = 0;
    // Of each block at its own moment: what all had at once may have been less. None where none of them told.
    std::optional<std::uint64_t> high_water_bytes;
};

struct BlocksReport {
    // What is part of another, or of memory that is not the engine's, counts once or not at all.
    std::uint64_t committed_bytes = 0;
    // That found the table full.
    std::uint64_t unlisted = 0;
    // Both the largest first.
    std::vector<BlockTagReport> tags;
    std::vector<BlockReport> list;
};

struct Report {
    // Without them all but the blocks is empty.
    bool has_records = true;
    std::string program;
    std::uint32_t process_id = 0;
    bool is_live = false;
    double running_seconds = 0;
    std::uint64_t taken_ns = 0;
    unsigned threads = 0;
    // What the records themselves take.
    std::uint64_t record_bytes = 0;
    // Which these are, from one, of those that the process keeps.
    std::size_t record_set = 1;
    std::size_t record_sets = 1;
    // Whether anything was ever charged to a tag, or refused.
    bool has_charges = false;
    // Those that were used, a parent before those below it, which are sorted by what is live. Everything is
    // always there.
    std::vector<TagReport> tags;
    // Under all tags, whichever are kept, and whether it is one with those below it.
    std::uint64_t live_bytes = 0;
    bool is_of_one_tag = false;
    // The latest first.
    std::vector<EventReport> events;
    std::uint64_t event_count = 0;
    std::vector<MonitorReport> monitors;
    // The latest first.
    std::vector<HandlerCallReport> handler_calls;
    std::uint64_t handler_call_count = 0;
    // When the profiler was ever started.
    std::optional<ProfileReport> profile;
    // The signal that it waits for, as `kill` takes it, when it was not. Empty: for none.
    std::string awaited_signal;
    // The oldest first.
    std::vector<MomentReport> timeline;
    BlocksReport blocks;
};

[[nodiscard]] Report make_report(const LoadedImage& loaded);
// Of a process that keeps no records.
[[nodiscard]] Report make_report(const NoRecords& process);
// The tables of blocks that belong to it.
[[nodiscard]] std::vector<BlockTableCopy> block_tables_of(const LoadedImage& loaded);
void add_blocks(Report& report, const std::vector<BlockTableCopy>& tables);

void sort_sites(Report& report, SiteSorting sorting);
// Leaves the sites that have something of what they are sorted by.
void leave_out_empty_sites(Report& report);

// Fills in the rates from an earlier report of the same process.
void add_rates(Report& report, const Report& before);

// Leaves the tag of this name and those below it, and what belongs to them. Throws ReportError, with the
// names there are.
void keep_tag(Report& report, const std::string& name);

}  // namespace ouro
