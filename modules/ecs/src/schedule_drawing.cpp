#include <ouro/ecs/schedule.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace ouro {

using detail::SystemRecord;

// Writes a schedule for people.
class Schedule::Drawing {
public:
    Drawing(const Schedule& schedule, const ByteSink& sink) noexcept : own_(schedule), sink_(sink) {}

    void print() noexcept {
        for (const Stage& stage : own_.stages_) {
            add("stage ").add(stage.name).add(": ").add(stage.end - stage.first).add(" systems");
            if (stage.runs != 0) {
                add(", ").add_time(stage.total_ns).add(", barrier ").add_time(stage.barrier_ns).add(", ");
                add(stage.commands.applied)
                    .add(" commands, ")
                    .add(stage.commands.skipped)
                    .add(" passed over");
            }
            add("\n");
            for (std::uint32_t place = stage.first; place < stage.end; ++place)
                print_system(place);
        }
    }

    void draw_dot() noexcept {
        add("digraph schedule {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
        for (const Stage& stage : own_.stages_) {
            const auto number = static_cast<std::uint64_t>(&stage - own_.stages_.data());
            add("  subgraph cluster_")
                .add(number)
                .add(" {\n    label=\"")
                .add_quoted(stage.name)
                .add("\";\n");
            for (std::uint32_t place = stage.first; place < stage.end; ++place) {
                const SystemRecord& system = own_.at(place);
                add("    s").add(place).add(" [label=\"").add_quoted(system.name);
                if (system.runs != 0) add("\\n").add_time(system.last_ns);
                add("\"];\n");
            }
            add("    b").add(number).add(" [shape=plaintext, label=\"barrier");
            if (stage.runs != 0) add("\\n").add_time(stage.barrier_ns);
            add("\"];\n  }\n");
            for (std::uint32_t place = stage.first; place < stage.end; ++place)
                if (is_last(place)) add("  s").add(place).add(" -> b").add(number).add(" [style=dotted];\n");
        }
        for (const Edge& edge : own_.edges_) {
            add("  s").add(edge.before).add(" -> s").add(edge.after);
            add(edge.is_conflict ? " [style=dashed];\n" : ";\n");
        }
        add("}\n");
    }

    void draw_svg() noexcept {
        place_boxes();
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"").add(width_).add("\" height=\"");
        add(height_).add("\" font-family=\"sans-serif\" font-size=\"12\">\n");
        for (const Stage& stage : own_.stages_)
            draw_stage(stage);
        for (const Edge& edge : own_.edges_)
            draw_edge(edge);
        add("</svg>\n");
    }

private:
    static constexpr std::uint64_t kBoxWidth = 170;
    static constexpr std::uint64_t kBoxHeight = 36;
    static constexpr std::uint64_t kStepX = 210;
    static constexpr std::uint64_t kStepY = 48;
    static constexpr std::uint64_t kTitle = 28;

    Drawing& add(std::string_view text) noexcept {
        sink_.write(sink_.context, text);
        return *this;
    }
    Drawing& add(std::uint64_t number) noexcept {
        std::array<char, 20> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
        return add(std::string_view(digits.data(), static_cast<std::size_t>(end.ptr - digits.data())));
    }
    // Microseconds with one digit.
    Drawing& add_time(std::uint64_t ns) noexcept {
        const std::uint64_t tenths = (ns + 50) / 100;
        return add(tenths / 10).add(".").add(tenths % 10).add(" us");
    }
    // Good in quotes and in XML.
    Drawing& add_quoted(std::string_view text) noexcept {
        for (const char& c : text) {
            if (c == '"' || c == '\\')
                add("'");
            else if (c == '<' || c == '>' || c == '&')
                add("_");
            else
                add(std::string_view(&c, 1));
        }
        return *this;
    }

    void print_system(std::uint32_t place) noexcept {
        const SystemRecord& system = own_.at(place);
        add("  ").add(system.name);
        if (system.access.is_exclusive) add(" (exclusive)");
        if (system.runs != 0) {
            add(": ").add_time(system.last_ns);
            if (system.total_ns != 0)
                add(", mean ")
                    .add_time(system.total_ns / system.runs)
                    .add(", longest ")
                    .add_time(system.longest_ns);
        }
        if (!system.is_due) add(", not due");
        std::string_view link = " | after ";
        for (const Edge& edge : own_.edges_) {
            if (edge.after != place) continue;
            add(link).add(own_.at(edge.before).name);
            link = ", ";
        }
        add("\n");
    }

    [[nodiscard]] bool is_last(std::uint32_t place) const noexcept {
        return std::ranges::none_of(own_.edges_, [&](const Edge& edge) { return edge.before == place; });
    }

    // Its column is how many wait for one another up to it; its row is counted in the column.
    [[nodiscard]] std::uint64_t row_of(std::uint32_t place) const noexcept {
        const SystemRecord& system = own_.at(place);
        std::uint64_t row = 0;
        for (std::uint32_t other = own_.stages_[system.stage].first; other < place; ++other)
            row += own_.at(other).depth == system.depth ? 1U : 0U;
        return row;
    }
    [[nodiscard]] std::uint64_t rows_of(const Stage& stage) const noexcept {
        std::uint64_t rows = 1;
        for (std::uint32_t place = stage.first; place < stage.end; ++place)
            rows = std::max(rows, row_of(place) + 1);
        return rows;
    }
    [[nodiscard]] std::uint64_t top_of(const Stage& wanted) const noexcept {
        std::uint64_t top = 8;
        for (const Stage& stage : own_.stages_) {
            if (&stage == &wanted) break;
            top += kTitle + rows_of(stage) * kStepY + 8;
        }
        return top;
    }
    [[nodiscard]] std::uint64_t left_of(std::uint32_t place) const noexcept {
        return 20 + own_.at(place).depth * kStepX;
    }
    [[nodiscard]] std::uint64_t top_of(std::uint32_t place) const noexcept {
        return top_of(own_.stages_[own_.at(place).stage]) + kTitle + row_of(place) * kStepY;
    }
    void place_boxes() noexcept {
        std::uint64_t depth = 0;
        for (std::uint32_t place = 0; place < own_.order_.size(); ++place)
            depth = std::max<std::uint64_t>(depth, own_.at(place).depth);
        width_ = 40 + depth * kStepX + kBoxWidth;
        height_ = 8;
        if (!own_.stages_.empty())
            height_ = top_of(own_.stages_.back()) + kTitle + rows_of(own_.stages_.back()) * kStepY + 8;
    }

    void draw_stage(const Stage& stage) noexcept {
        const std::uint64_t top = top_of(stage);
        add("<rect x=\"8\" y=\"").add(top).add("\" width=\"").add(width_ - 16).add("\" height=\"");
        add(kTitle + rows_of(stage) * kStepY).add("\" fill=\"#f4f6f8\" stroke=\"#c8d0d8\"/>\n");
        add("<text x=\"20\" y=\"").add(top + 18).add("\" font-weight=\"bold\">").add_quoted(stage.name);
        if (stage.runs != 0) add(" \xC2\xB7 barrier ").add_time(stage.barrier_ns);
        add("</text>\n");
        for (std::uint32_t place = stage.first; place < stage.end; ++place)
            draw_system(place);
    }
    void draw_system(std::uint32_t place) noexcept {
        const SystemRecord& system = own_.at(place);
        const std::uint64_t left = left_of(place);
        const std::uint64_t top = top_of(place);
        add("<rect x=\"")
            .add(left)
            .add("\" y=\"")
            .add(top)
            .add("\" width=\"")
            .add(kBoxWidth)
            .add("\" height=\"");
        add(kBoxHeight).add("\" rx=\"4\" fill=\"").add(system.access.is_exclusive ? "#ffe3d6" : "#ffffff");
        add("\" stroke=\"#4a6078\"/>\n<text x=\"").add(left + 8).add("\" y=\"").add(top + 15).add("\">");
        add_quoted(system.name).add("</text>\n");
        if (system.runs == 0) return;
        add("<text x=\"").add(left + 8).add("\" y=\"").add(top + 29).add("\" fill=\"#66788a\">");
        add_time(system.last_ns).add("</text>\n");
    }
    void draw_edge(const Edge& edge) noexcept {
        add("<line x1=\"").add(left_of(edge.before) + kBoxWidth).add("\" y1=\"");
        add(top_of(edge.before) + kBoxHeight / 2).add("\" x2=\"").add(left_of(edge.after)).add("\" y2=\"");
        add(top_of(edge.after) + kBoxHeight / 2).add("\" stroke=\"#4a6078\"");
        add(edge.is_conflict ? " stroke-dasharray=\"4 3\"/>\n" : "/>\n");
    }

    const Schedule& own_;
    const ByteSink& sink_;
    std::uint64_t width_ = 0;
    std::uint64_t height_ = 0;
};

void Schedule::print(const ByteSink& sink) const noexcept {
    if (is_prepared_) Drawing(*this, sink).print();
}
void Schedule::draw_dot(const ByteSink& sink) const noexcept {
    if (is_prepared_) Drawing(*this, sink).draw_dot();
}
void Schedule::draw_svg(const ByteSink& sink) const noexcept {
    if (is_prepared_) Drawing(*this, sink).draw_svg();
}

}  // namespace ouro
