#include "harness/report.hpp"

#include <nlohmann/json.hpp>

namespace ouro::bench {
namespace {

// Keeps the keys in the order of writing, which is the order of reading.
using Json = nlohmann::ordered_json;

template <class T>
Json optional_value(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json machine_json(const Machine& machine) {
    return {
        {"cpu", machine.cpu},
        {"cores", machine.cores},
        {"memory_bytes", machine.memory_bytes},
        {"kernel", machine.kernel},
        {"compiler", machine.compiler},
        {"build_type", machine.build_type},
        {"vector_extensions", machine.vector_extensions},
        {"page_bytes", machine.page_bytes},
        {"transparent_huge_pages", machine.transparent_huge_pages},
        {"date", machine.date},
        {"quick", machine.quick},
    };
}

Json met_json(Met met) {
    return met == Met::unknown ? Json("unknown") : Json(met == Met::yes);
}

const char* figure_name(Figure figure) {
    switch (figure) {
        case Figure::ratio:
            return "ratio";
        case Figure::value:
            return "ours";
        case Figure::difference:
            break;
    }
    return "difference";
}

void add_bar(Json& json, const std::optional<Bar>& bar) {
    json["bar"] = bar ? Json(bar->limit) : Json(nullptr);
    if (!bar) return;
    json["bar_sense"] = bar->sense == Sense::at_most ? "at_most" : "at_least";
    json["bar_of"] = figure_name(bar->figure);
}

Json row_json(const Row& row) {
    Json json = {
        {"suite", row.label.suite},
        {"case", row.label.name},
        {"unit", row.label.unit},
        {"ours", optional_value(row.ours)},
        {"peer", row.peer.empty() ? Json(nullptr) : Json(row.peer)},
        {"peer_version", row.peer_version.empty() ? Json(nullptr) : Json(row.peer_version)},
        {"peer_value", optional_value(row.peer_value)},
        {"ratio", optional_value(row.ratio())},
    };
    add_bar(json, row.bar);
    json["met"] = met_json(row.met());
    if (row.bound) {
        json["bound"] = *row.bound;
        json["bound_name"] = row.bound_name;
    }
    if (!row.statistic.empty()) json["statistic"] = row.statistic;
    if (row.memory_bytes) json["memory_bytes"] = *row.memory_bytes;
    if (row.peer_memory_bytes) json["peer_memory_bytes"] = *row.peer_memory_bytes;
    if (!row.note.empty()) json["note"] = row.note;
    return json;
}

}  // namespace

std::string json_report(const Machine& machine, const std::vector<Row>& rows) {
    Json report = Json::array({machine_json(machine)});
    for (const Row& row : rows)
        report.push_back(row_json(row));
    return report.dump(2) + "\n";
}

}  // namespace ouro::bench
