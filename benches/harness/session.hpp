#pragma once

#include "harness/measure.hpp"
#include "harness/peers.hpp"
#include "harness/progress.hpp"
#include "harness/row.hpp"
#include "harness/unit.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ouro::bench {

class Case;

struct SessionOptions {
    // Zero: the program's own choice.
    unsigned rounds = 0;
    // Sizes and times cut down, to see that everything runs; the figures mean nothing.
    bool quick = false;
    PeerFolder peers;
    // Only the cases whose names contain this.
    std::string only = {};
};

// Receives each row as soon as it is measured.
using RowSink = std::function<void(const Row& row)>;

// What a suite is given: makes cases, collects their rows.
class Session {
public:
    Session(SessionOptions options, Progress& progress, RowSink sink);

    void begin_suite(std::string name) { suite_ = std::move(name); }

    // A new case of the current suite; nothing is measured before its run().
    [[nodiscard]] Case measure(std::string name, const Unit& unit);

    [[nodiscard]] bool is_quick() const noexcept { return options_.quick; }
    // The normal size, or the small one in a quick session.
    [[nodiscard]] std::uint64_t sized(std::uint64_t normal, std::uint64_t quick) const noexcept {
        return options_.quick ? quick : normal;
    }
    [[nodiscard]] const PeerFolder& peers() const noexcept { return options_.peers; }
    [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }

    // Whether a case of that name is to be measured.
    [[nodiscard]] bool wants(const std::string& name) const noexcept {
        return name.find(options_.only) != std::string::npos;
    }

private:
    friend class Case;
    [[nodiscard]] Plan default_plan() const noexcept;
    void add_row(Row row);

    SessionOptions options_;
    Progress& progress_;
    RowSink sink_;
    std::string suite_;
    std::vector<Row> rows_;
};

}  // namespace ouro::bench
