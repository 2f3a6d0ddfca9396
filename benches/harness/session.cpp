#include "harness/session.hpp"

#include "harness/case.hpp"

namespace ouro::bench {

Session::Session(SessionOptions options, Progress& progress, RowSink sink)
    : options_(std::move(options)), progress_(progress), sink_(std::move(sink)) {}

Case Session::measure(std::string name, const Unit& unit) {
    return {*this, RowLabel{suite_, std::move(name), std::string(unit.name)}, unit};
}

Plan Session::default_plan() const noexcept {
    Plan plan;
    if (options_.quick) {
        plan.rounds = 2;
        plan.target_ns = 5e4;
    }
    if (options_.rounds != 0) plan.rounds = options_.rounds;
    return plan;
}

void Session::add_row(Row row) {
    progress_.clear();
    row.judged = !options_.quick;
    if (sink_) sink_(row);
    rows_.push_back(std::move(row));
}

}  // namespace ouro::bench
