#include "export_writer.hpp"

#include <ouro/observe/detail/event_ring.hpp>
#include <ouro/observe/events.hpp>
#include <ouro/observe/timeline.hpp>
#include <ouro/os/process_memory.hpp>

#include <algorithm>
#include <array>
#include <bitset>

namespace ouro {
namespace {

using detail::ExportWriter;

bool is_continuation(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// Bytes of the character at the start of the text; zero when it is none in UTF-8. Lenient about which
// characters there are.
std::size_t utf8_length(std::string_view text) noexcept {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first > 0xf4 || length > text.size()) return 0;
    for (std::size_t at = 1; at < length; ++at) {
        if (!is_continuation(text[at])) return 0;
    }
    return length;
}

// Too long or too large characters, and halves of pairs.
bool is_odd_character(std::string_view character) noexcept {
    if (character.size() < 3) return false;
    const auto first = static_cast<unsigned char>(character[0]);
    const auto second = static_cast<unsigned char>(character[1]);
    return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
           (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
}

// With quotes. Bytes that are no text in UTF-8 become question marks.
void add_text(ExportWriter& writer, std::string_view text) noexcept {
    writer.add('"');
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const std::string_view character(text.data(), length == 0 ? 1 : length);
        text.remove_prefix(character.size());
        if (length == 0 || is_odd_character(character)) {
            writer.add('?');
        } else if (static_cast<unsigned char>(character[0]) < 0x20) {
            writer.add("\\u00").add(character[0] < 0x10 ? '0' : '1');
            writer.add_number(static_cast<unsigned char>(character[0]) & 0xf, 16);
        } else {
            if (character[0] == '"' || character[0] == '\\') writer.add('\\');
            writer.add(character);
        }
    }
    writer.add('"');
}

class Trace {
public:
    explicit Trace(const ByteSink& sink) noexcept : writer_(sink) {
        writer_.add("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
        writer_.add("{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":").add_number(process_);
        writer_.add(",\"tid\":0,\"args\":{\"name\":\"memory\"}}");
    }
    ~Trace() { writer_.add("\n]}\n"); }
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    // Up to the arguments, which the caller adds, and end().
    ExportWriter& begin(std::string_view name, char phase, std::uint64_t time_ns) noexcept {
        writer_.add(",\n{\"name\":");
        add_text(writer_, name);
        writer_.add(",\"ph\":\"")
            .add(phase)
            .add("\",\"pid\":")
            .add_number(process_)
            .add(",\"tid\":0,\"ts\":");
        add_microseconds(time_ns);
        return writer_.add(",\"args\":{");
    }
    void end(std::string_view rest = {}) noexcept { writer_.add('}').add(rest).add('}'); }

    void add_counter(std::string_view name, std::uint64_t time_ns, std::uint64_t value) noexcept {
        begin(name, 'C', time_ns).add("\"value\":").add_number(value);
        end();
    }

private:
    void add_microseconds(std::uint64_t time_ns) noexcept {
        writer_.add_number(time_ns / 1000).add('.');
        const std::uint64_t rest = time_ns % 1000;
        writer_.add(static_cast<char>('0' + rest / 100)).add(static_cast<char>('0' + rest / 10 % 10));
        writer_.add(static_cast<char>('0' + rest % 10));
    }

    std::uint64_t process_ = os::process_id();
    ExportWriter writer_;
};

using TagSet = std::bitset<kMaxTags>;

// Calls visit(moment) for all that there are.
template <class Visit>
void visit_moments(Visit&& visit) noexcept {
    std::array<TimelineMoment, 8> moments;
    std::uint64_t cursor = 0;
    while (const std::size_t count = read_timeline(cursor, moments)) {
        for (std::size_t at = 0; at < count; ++at)
            visit(moments[at]);
    }
}

// Of each tag, from moment to moment.
struct TagTracks {
    // Those that were ever among the largest.
    TagSet shown;
    // As far as it is known.
    std::array<std::uint64_t, kMaxTags> bytes{};
};

bool tells_of_all(const TimelineMoment& moment) noexcept {
    return moment.tag_count != moment.tags.size();
}

// A moment tells of the largest tags only. Where there are fewer than it has room for, all others have
// nothing. Where there are not, others have no more than the smallest: they stay what they were below that.
void follow(TagTracks& tracks, const TimelineMoment& moment) noexcept {
    const std::uint64_t most = tells_of_all(moment) ? 0 : moment.tags[moment.tag_count - 1].bytes;
    for (std::uint64_t& bytes : tracks.bytes)
        bytes = std::min(bytes, most);
    for (std::size_t place = 0; place < moment.tag_count; ++place)
        tracks.bytes[moment.tags[place].tag.id() % kMaxTags] = moment.tags[place].bytes;
}

// One that nothing is known of is left out: it may have some.
void add_tags(Trace& trace, const TimelineMoment& moment, TagTracks& tracks) noexcept {
    follow(tracks, moment);
    ExportWriter& writer = trace.begin("live by tag (bytes)", 'C', moment.time_ns);
    bool is_first = true;
    for (std::size_t id = 0; id < kMaxTags; ++id) {
        const bool is_known = tells_of_all(moment) || tracks.bytes[id] != 0;
        if (!tracks.shown[id] || !is_known) continue;
        if (!is_first) writer.add(',');
        is_first = false;
        add_text(writer, tag_name(Tag::from_id(static_cast<std::uint16_t>(id))));
        writer.add(':').add_number(tracks.bytes[id]);
    }
    trace.end();
}

std::uint64_t per_second(std::uint64_t now, std::uint64_t before, std::uint64_t passed_ns) noexcept {
    const double seconds = static_cast<double>(passed_ns) / 1e9;
    return passed_ns == 0 || now < before
               ? 0
               : static_cast<std::uint64_t>(static_cast<double>(now - before) / seconds);
}

void add_timeline(Trace& trace) noexcept {
    TagTracks tracks;
    visit_moments([&](const TimelineMoment& moment) noexcept {
        for (std::size_t place = 0; place < moment.tag_count; ++place)
            tracks.shown[moment.tags[place].tag.id() % kMaxTags] = true;
    });
    TimelineMoment before;
    visit_moments([&](const TimelineMoment& moment) noexcept {
        trace.add_counter("live (bytes)", moment.time_ns, moment.live_bytes);
        trace.add_counter("resident (bytes)", moment.time_ns, moment.resident_bytes);
        trace.add_counter("listed blocks (bytes)", moment.time_ns, moment.listed_bytes);
        if (tracks.shown.any()) add_tags(trace, moment, tracks);
        if (before.time_ns != 0) {
            const std::uint64_t passed = moment.time_ns - before.time_ns;
            trace.add_counter("allocated (bytes/s)", moment.time_ns,
                              per_second(moment.allocated_bytes, before.allocated_bytes, passed));
            trace.add_counter("allocations (1/s)", moment.time_ns,
                              per_second(moment.allocations, before.allocations, passed));
        }
        before = moment;
    });
}

std::string_view name_of(ObserveEventKind kind) noexcept {
    switch (kind) {
        case ObserveEventKind::soft_budget_passed:
            return "soft budget passed";
        case ObserveEventKind::request_refused:
            return "request refused";
        case ObserveEventKind::pressure_changed:
            return "pressure changed";
        case ObserveEventKind::pressure_handled:
            return "pressure handled";
        case ObserveEventKind::new_peak:
            return "new peak";
        case ObserveEventKind::spike:
            return "spike";
    }
    return "event";
}

void add_event(Trace& trace, const ObserveEvent& event) noexcept {
    ExportWriter& writer = trace.begin(name_of(event.kind), 'i', event.time_ns);
    writer.add("\"tag\":");
    add_text(writer, tag_name(event.tag));
    writer.add(",\"bytes\":").add_number(event.bytes);
    writer.add(",\"limit_bytes\":").add_number(event.limit_bytes);
    writer.add(",\"level\":").add_number(event.level);
    writer.add(",\"count\":").add_number(event.count);
    writer.add(",\"status\":");
    add_text(writer, status_name(event.status));
    trace.end(",\"s\":\"p\"");
}

void add_events(Trace& trace) noexcept {
    std::array<ObserveEvent, 16> events;
    std::uint64_t cursor = 0;
    while (const std::size_t count = read_events(cursor, events).count) {
        for (std::size_t at = 0; at < count; ++at)
            add_event(trace, events[at]);
    }
}

}  // namespace

void write_chrome_trace(const ByteSink& sink) noexcept {
    Trace trace(sink);
    add_timeline(trace);
    add_events(trace);
}

}  // namespace ouro
