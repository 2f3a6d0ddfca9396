#pragma once

#include <ouro/memory/block_registry.hpp>
#include <ouro/observe/byte_sink.hpp>

// Every block that the engine owns in this process, for people and for programs: tables, their streams, and
// the ranges of allocators that stand on their own. As of the last time that each owner brought its entry up
// to date. Another process's are shown by `ouro streams <number>`.
//
// Programs that want the entries themselves use visit_blocks() or snapshot_blocks() of block_registry.hpp.
namespace ouro {

// One line a block: name, tag, kind, reserved, committed, cursor, high-water mark and address; a part of
// another block stands below it. A last line sums up what is not a part of another.
void write_blocks_text(const ByteSink& sink) noexcept;

// One JSON object: {"blocks": [{"name", "tag", "kind", "within", "base", "reserved_bytes", "committed_bytes",
// "cursor_bytes", "high_water_bytes"}, ...], "unlisted": 0}. "within" is the index of the block that this one
// is a part of, or null; "base" is a string in hexadecimal, or null where there is no single one.
void write_blocks_json(const ByteSink& sink) noexcept;

}  // namespace ouro
