#include "harness/row.hpp"

namespace ouro::bench {

std::optional<double> Row::ratio() const noexcept {
    if (!ours || !peer_value || *peer_value == 0) return std::nullopt;
    return *ours / *peer_value;
}

std::optional<double> Row::figure(Figure which) const noexcept {
    switch (which) {
        case Figure::ratio:
            return ratio();
        case Figure::value:
            return ours;
        case Figure::difference:
            break;
    }
    if (!ours || !peer_value) return std::nullopt;
    return *ours - *peer_value;
}

Met Row::met() const noexcept {
    if (!bar || !judged) return Met::unknown;
    const std::optional<double> value = figure(bar->figure);
    if (!value) return Met::unknown;
    return bar->holds(*value) ? Met::yes : Met::no;
}

std::string_view met_text(Met met) noexcept {
    switch (met) {
        case Met::yes:
            return "true";
        case Met::no:
            return "false";
        case Met::unknown:
            break;
    }
    return "unknown";
}

}  // namespace ouro::bench
