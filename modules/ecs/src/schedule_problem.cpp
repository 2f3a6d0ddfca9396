#include "text_piece.hpp"

#include <ouro/ecs/schedule.hpp>

#include <array>

namespace ouro {

Status Schedule::tell(Status status, std::initializer_list<std::string_view> parts) noexcept {
    detail::TextPiece text(problem_);
    for (const std::string_view part : parts)
        text.add(part);
    problem_length_ = text.add(": ").add(status_text(status)).view().size();
    return status;
}

Status Schedule::tell_barrier(const Stage& stage, Status delivered) noexcept {
    const CommandReport& done = stage.commands;
    std::array<char, 64> number;
    if (done.dropped != 0)
        return tell(done.status, {"stage ", stage.name.view(), ": there was no memory for all commands, and ",
                                  detail::TextPiece(number).number(done.dropped).view(),
                                  " were not done (ScheduleOptions::command_bytes)"});
    if (done.failed != 0) {
        detail::TextPiece text(number);
        if (!done.failed_entity.is_null())
            text.add(" on entity ")
                .number(done.failed_entity.index())
                .add(":")
                .number(done.failed_entity.generation());
        text.add(", one of ").number(done.failed);
        return tell(done.status, {"stage ", stage.name.view(), ": a command of ", name_at(done.failed_system),
                                  text.view(), " that failed"});
    }
    if (done.status != Status::ok)
        return tell(done.status, {"stage ", stage.name.view(), ": its commands could not be recorded"});
    if (delivered == Status::rate_limited)
        return tell(delivered, {"stage ", stage.name.view(),
                                ": observers cause ever more events, and what is left waits for the next "
                                "delivery"});
    if (delivered != Status::ok) return tell(delivered, {"stage ", stage.name.view(), ": observers"});
    return Status::ok;
}

}  // namespace ouro
