#include <ouro/ecs/detail/relation_lists.hpp>

namespace ouro::detail {

void RelationLists::pair(WorldCore& core, SparseTable& links, SparseTable& sources) noexcept {
    if (links.partner != 0) return;
    core.heap().edit(links.partner) = core.heap().offset_of(&sources);
    core.heap().edit(sources.partner) = core.heap().offset_of(&links);
}

bool RelationLists::leads_to(Entity from, Entity to) const noexcept {
    // Not more steps than links: what came from a file may run in a circle.
    std::uint32_t left = links_.size();
    for (Entity at = from; !at.is_null(); at = target(slot_index(at)))
        if (at == to || left-- == 0) return true;
    return false;
}

void RelationLists::link(Entity source, Entity target) noexcept {
    const std::uint32_t slot = slot_index(source);
    if (const std::uint32_t row = links_.find(slot); row != 0) {
        if (links_.cell<LinkValue>(row - 1).target == target) return;
        take_out(slot);
    } else {
        [[maybe_unused]] const auto added = links_.add(source);
        OURO_ASSERT(added.has_value(), "there is room for what was reserved");
    }
    std::uint32_t head_row = sources_.find(slot_index(target));
    if (head_row == 0) {
        const auto added = sources_.add(target);
        OURO_ASSERT(added.has_value(), "there is room for what was reserved");
        head_row = *added + 1;
        sources_.cell<SourcesValue>(*added) = {};
    }
    SourcesValue& head = sources_.edit<SourcesValue>(head_row - 1);
    edit_link(slot) = {target, head.last, 0};
    if (head.last != 0) edit_link(head.last - 1).next = slot + 1;
    if (head.first == 0) head.first = slot + 1;
    head.last = slot + 1;
    ++head.count;
}

void RelationLists::take_out(std::uint32_t source) noexcept {
    const LinkValue link = links_.cell<LinkValue>(links_.find(source) - 1);
    if (link.previous != 0) edit_link(link.previous - 1).next = link.next;
    if (link.next != 0) edit_link(link.next - 1).previous = link.previous;
    if (link.target.is_null()) {
        SparseTable& table = core_.heap().edit(links_.table());
        if (link.previous == 0) table.doomed_first = link.next;
        if (link.next == 0) table.doomed_last = link.previous;
        core_.count_doomed(-1);
        return;
    }
    const std::uint32_t target = slot_index(link.target);
    SourcesValue& head = sources_.edit<SourcesValue>(sources_.find(target) - 1);
    if (link.previous == 0) head.first = link.next;
    if (link.next == 0) head.last = link.previous;
    if (--head.count == 0) sources_.remove(target);
}

void RelationLists::unlink_sources(std::uint32_t target) noexcept {
    for (std::uint32_t next = first_source(target); next != 0;) {
        const std::uint32_t source = next - 1;
        next = next_source(source);
        links_.remove(source);
    }
}

void RelationLists::doom_sources(std::uint32_t target) noexcept {
    const SourcesValue head = sources_.cell<SourcesValue>(sources_.find(target) - 1);
    SparseTable& table = core_.heap().edit(links_.table());
    for (std::uint32_t next = head.first; next != 0;) {
        LinkValue& link = edit_link(next - 1);
        link.target = Entity();
        next = link.next;
    }
    // The list as a whole, behind those that wait already.
    if (table.doomed_last != 0) {
        edit_link(table.doomed_last - 1).next = head.first;
        edit_link(head.first - 1).previous = table.doomed_last;
    } else {
        table.doomed_first = head.first;
    }
    table.doomed_last = head.last;
    core_.count_doomed(static_cast<int>(head.count));
}

}  // namespace ouro::detail
