// What a world is in an image. Written by ouro_write_layout from the structures of C++: change those,
// and write it again (docs/ecs-tools.md).

export const IMAGE_MAGIC = "ouroimg";
export const HEAP_MAGIC = "ouroheap";
export const WORLD_MAGIC = "ouroecs";
export const WORLD_ROOT = "ecs";
export const IMAGE_VERSION = 1;
export const HEAP_VERSION = 1;
export const WORLD_VERSION = 2;
export const PAGE_BYTES = 4096;
export const MAX_COMPONENTS = 256;
export const FIRST_BLOCK_ROWS = 64;
export const MAX_BLOCKS = 24;
export const NO_ARCHETYPE = 65535;
export const ENTITY_COMPONENT = 0;
export const SPARSE_PAGE_SLOTS = 1024;
export const HEAT_HOT = 0;
export const HEAT_WARM = 1;
export const HEAT_COLD = 2;
export const KIND_COLUMN = 0;
export const KIND_TAG = 1;
export const KIND_SPARSE = 2;
export const KIND_SINGLETON = 3;
export const ROLE_PLAIN = 0;
export const ROLE_NAME = 1;
export const ROLE_LINK = 2;
export const ROLE_SOURCES_STAY = 3;
export const ROLE_SOURCES_FOLLOW = 4;
export const CHANGES_NONE = 0;
export const CHANGES_SOME = 1;
export const CHANGES_ALL = 2;
export const FIELD_BOOLEAN = 0;
export const FIELD_CHARACTER = 1;
export const FIELD_SIGNED = 2;
export const FIELD_UNSIGNED = 3;
export const FIELD_FLOATING = 4;
export const FIELD_TEXT = 5;
export const FIELD_HANDLE = 6;
export const FIELD_OFFSET = 7;
export const FIELD_OPAQUE = 8;
export const STRUCTURES_HASH = 0xcf8289a524022e2en;
export const INPUT_MAGIC = "ouroinp";
export const INPUT_VERSION = 1;
export const INPUT_BLOCK_BYTES = 832;
export const INPUT_SEQUENCE_OFFSET = 16;
export const INPUT_RECORD_OFFSET = 64;
export const COMPONENT_KINDS = ["column", "tag", "sparse", "singleton"];
export const HEATS = ["hot", "warm", "cold"];
export const CHANGES = ["none", "some", "all"];
export const FIELD_KINDS = [
  "boolean", "character", "signed", "unsigned", "floating", "text", "handle", "offset", "opaque",
];

// Up to the first zero.
function readCharacters(view, offset, bytes) {
  let text = '';
  for (let i = 0; i < bytes; i += 1) {
    const code = view.getUint8(offset + i);
    if (code === 0) break;
    text += String.fromCharCode(code);
  }
  return text;
}

// A FixedString: its length, in two bytes when it can be long, then its characters.
function readText(view, offset, bytes) {
  const front = bytes - 1 <= 255 ? 1 : 2;
  const length = front === 1 ? view.getUint8(offset) : view.getUint16(offset, true);
  const characters = new Uint8Array(view.buffer, view.byteOffset + offset + front,
    Math.min(length, bytes - front));
  return new TextDecoder().decode(characters.slice());
}

export class ImageHeader {
  static BYTES = 1568;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  get magic() { return readCharacters(this.view, this.base + 0, 8); }
  get version() { return this.view.getUint32(this.base + 8, true); }
  get page_bytes() { return this.view.getUint32(this.base + 12, true); }
  get layout_hash() { return this.view.getBigUint64(this.base + 16, true); }
  get part_count() { return this.view.getUint32(this.base + 24, true); }
  parts_name(index) { return readCharacters(this.view, this.base + 32 + index * 48, 32); }
  parts_offset(index) { return this.view.getBigUint64(this.base + 64 + index * 48, true); }
  parts_bytes(index) { return this.view.getBigUint64(this.base + 72 + index * 48, true); }
}

export class ImageHeapHeader {
  static BYTES = 512;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  get magic() { return readCharacters(this.view, this.base + 0, 8); }
  get version() { return this.view.getUint32(this.base + 8, true); }
  get root_count() { return this.view.getUint32(this.base + 12, true); }
  get segment_bytes() { return this.view.getBigUint64(this.base + 16, true); }
  get notes_bytes() { return this.view.getBigUint64(this.base + 24, true); }
  roots_name(index) { return readText(this.view, this.base + 32 + index * 32, 24); }
  roots_offset(index) { return this.view.getUint32(this.base + 56 + index * 32, true); }
  roots_bytes(index) { return this.view.getUint32(this.base + 60 + index * 32, true); }
}

export class WorldHeader {
  static BYTES = 128;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  get magic() { return readCharacters(this.view, this.base + 0, 8); }
  get version() { return this.view.getUint32(this.base + 8, true); }
  get tick() { return this.view.getUint32(this.base + 12, true); }
  get component_count() { return this.view.getUint32(this.base + 16, true); }
  get archetype_count() { return this.view.getUint32(this.base + 20, true); }
  get max_entities() { return this.view.getUint32(this.base + 24, true); }
  get max_archetypes() { return this.view.getUint32(this.base + 28, true); }
  get used_slots() { return this.view.getUint32(this.base + 32, true); }
  get live_entities() { return this.view.getUint32(this.base + 36, true); }
  get retired_slots() { return this.view.getUint32(this.base + 40, true); }
  get first_free() { return this.view.getUint32(this.base + 44, true); }
  get components() { return this.view.getUint32(this.base + 48, true); }
  get entities() { return this.view.getUint32(this.base + 52, true); }
  get archetypes() { return this.view.getUint32(this.base + 56, true); }
  get names() { return this.view.getUint32(this.base + 60, true); }
  arenas_cursor(index) { return this.view.getUint32(this.base + 64 + index * 8, true); }
  arenas_end(index) { return this.view.getUint32(this.base + 68 + index * 8, true); }
  get registry_hash() { return this.view.getBigUint64(this.base + 88, true); }
  get first_sparse() { return this.view.getUint32(this.base + 96, true); }
  get prefab_archetypes() { return this.view.getUint32(this.base + 100, true); }
  get structures_hash() { return this.view.getBigUint64(this.base + 104, true); }
  get layout_hash() { return this.view.getBigUint64(this.base + 112, true); }
}

export class ComponentRecord {
  static BYTES = 96;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  get name() { return readText(this.view, this.base + 0, 48); }
  get layout_hash() { return this.view.getBigUint64(this.base + 48, true); }
  get bytes() { return this.view.getUint32(this.base + 56, true); }
  get alignment() { return this.view.getUint16(this.base + 60, true); }
  get heat() { return this.view.getUint8(this.base + 62); }
  get kind() { return this.view.getUint8(this.base + 63); }
  get fields() { return this.view.getUint32(this.base + 64, true); }
  get field_count() { return this.view.getUint16(this.base + 68, true); }
  get toggles() { return this.view.getUint16(this.base + 70, true); }
  get data() { return this.view.getUint32(this.base + 72, true); }
  get changed_tick() { return this.view.getUint32(this.base + 76, true); }
}

export class FieldRecord {
  static BYTES = 64;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  get name() { return readText(this.view, this.base + 0, 48); }
  get offset() { return this.view.getUint32(this.base + 48, true); }
  get element_bytes() { return this.view.getUint32(this.base + 52, true); }
  get count() { return this.view.getUint32(this.base + 56, true); }
  get kind() { return this.view.getUint8(this.base + 60); }
}

export class EntitySlot {
  static BYTES = 8;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  get row() { return this.view.getUint32(this.base + 0, true); }
  get archetype() { return this.view.getUint16(this.base + 4, true); }
  get generation() { return this.view.getUint16(this.base + 6, true); }
}

export class ArchetypeRecord {
  static BYTES = 192;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  mask_words(element) { return this.view.getBigUint64(this.base + 0 + element * 8, true); }
  get chain_hash() { return this.view.getBigUint64(this.base + 32, true); }
  get row_count() { return this.view.getUint32(this.base + 40, true); }
  get column_count() { return this.view.getUint16(this.base + 44, true); }
  get block_count() { return this.view.getUint16(this.base + 46, true); }
  get columns() { return this.view.getUint32(this.base + 48, true); }
  get column_map() { return this.view.getUint32(this.base + 52, true); }
  get column_map_bytes() { return this.view.getUint32(this.base + 56, true); }
  get added_tick() { return this.view.getUint32(this.base + 60, true); }
  get added_from() { return this.view.getUint32(this.base + 64, true); }
  get added_before() { return this.view.getUint32(this.base + 68, true); }
  blocks(element) { return this.view.getUint32(this.base + 72 + element * 4, true); }
}

export class ColumnRecord {
  static BYTES = 8;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  get bytes() { return this.view.getUint32(this.base + 0, true); }
  get component() { return this.view.getUint16(this.base + 4, true); }
  get toggles() { return this.view.getUint16(this.base + 6, true); }
}

export class BlockColumn {
  static BYTES = 16;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  get data() { return this.view.getUint32(this.base + 0, true); }
  get planes() { return this.view.getUint32(this.base + 4, true); }
  get tick() { return this.view.getUint32(this.base + 8, true); }
  get now() { return this.view.getUint8(this.base + 12); }
  get before() { return this.view.getUint8(this.base + 13); }
  get has_disabled() { return this.view.getUint8(this.base + 14); }
  get turn() { return this.view.getUint8(this.base + 15); }
}

export class SparseTable {
  static BYTES = 224;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  rows_mask_words(element) { return this.view.getBigUint64(this.base + 0 + element * 8, true); }
  get rows_chain_hash() { return this.view.getBigUint64(this.base + 32, true); }
  get rows_row_count() { return this.view.getUint32(this.base + 40, true); }
  get rows_column_count() { return this.view.getUint16(this.base + 44, true); }
  get rows_block_count() { return this.view.getUint16(this.base + 46, true); }
  get rows_columns() { return this.view.getUint32(this.base + 48, true); }
  get rows_column_map() { return this.view.getUint32(this.base + 52, true); }
  get rows_column_map_bytes() { return this.view.getUint32(this.base + 56, true); }
  get rows_added_tick() { return this.view.getUint32(this.base + 60, true); }
  get rows_added_from() { return this.view.getUint32(this.base + 64, true); }
  get rows_added_before() { return this.view.getUint32(this.base + 68, true); }
  rows_blocks(element) { return this.view.getUint32(this.base + 72 + element * 4, true); }
  rows_unused(element) { return this.view.getUint32(this.base + 168 + element * 4, true); }
  get pages() { return this.view.getUint32(this.base + 192, true); }
  get page_count() { return this.view.getUint32(this.base + 196, true); }
  get next() { return this.view.getUint32(this.base + 200, true); }
  get partner() { return this.view.getUint32(this.base + 204, true); }
  get doomed_first() { return this.view.getUint32(this.base + 208, true); }
  get doomed_last() { return this.view.getUint32(this.base + 212, true); }
  get component() { return this.view.getUint16(this.base + 216, true); }
  get role() { return this.view.getUint8(this.base + 218); }
}

export class InputState {
  static BYTES = 584;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  keys_down(element) { return this.view.getBigUint64(this.base + 0 + element * 8, true); }
  keys_pressed(element) { return this.view.getBigUint64(this.base + 32 + element * 8, true); }
  keys_released(element) { return this.view.getBigUint64(this.base + 64 + element * 8, true); }
  get mouse_x() { return this.view.getFloat32(this.base + 96, true); }
  get mouse_y() { return this.view.getFloat32(this.base + 100, true); }
  get mouse_moved_x() { return this.view.getFloat32(this.base + 104, true); }
  get mouse_moved_y() { return this.view.getFloat32(this.base + 108, true); }
  get mouse_wheel_x() { return this.view.getFloat32(this.base + 112, true); }
  get mouse_wheel_y() { return this.view.getFloat32(this.base + 116, true); }
  get mouse_down() { return this.view.getUint16(this.base + 120, true); }
  get mouse_pressed() { return this.view.getUint16(this.base + 122, true); }
  get mouse_released() { return this.view.getUint16(this.base + 124, true); }
  get mouse_unused() { return this.view.getUint16(this.base + 126, true); }
  gamepads_axes(index, element) { return this.view.getFloat32(this.base + 128 + index * 48 + element * 4, true); }
  gamepads_down(index) { return this.view.getUint32(this.base + 160 + index * 48, true); }
  gamepads_pressed(index) { return this.view.getUint32(this.base + 164 + index * 48, true); }
  gamepads_released(index) { return this.view.getUint32(this.base + 168 + index * 48, true); }
  gamepads_is_connected(index) { return this.view.getUint32(this.base + 172 + index * 48, true); }
  text(element) { return this.view.getUint32(this.base + 320 + element * 4, true); }
  get text_count() { return this.view.getUint32(this.base + 576, true); }
  get text_dropped() { return this.view.getUint32(this.base + 580, true); }
}

export class InputRecord {
  static BYTES = 760;
  constructor(view, base) {
    this.view = view;
    this.base = base;
  }
  keys_down(element) { return this.view.getBigUint64(this.base + 0 + element * 8, true); }
  key_presses(element) { return this.view.getUint8(this.base + 32 + element * 1); }
  get mouse_x() { return this.view.getFloat32(this.base + 288, true); }
  get mouse_y() { return this.view.getFloat32(this.base + 292, true); }
  get mouse_move_x() { return this.view.getInt32(this.base + 296, true); }
  get mouse_move_y() { return this.view.getInt32(this.base + 300, true); }
  get mouse_wheel_x() { return this.view.getInt32(this.base + 304, true); }
  get mouse_wheel_y() { return this.view.getInt32(this.base + 308, true); }
  get mouse_down() { return this.view.getUint32(this.base + 312, true); }
  get mouse_unused() { return this.view.getUint32(this.base + 316, true); }
  mouse_presses(element) { return this.view.getUint8(this.base + 320 + element * 1); }
  gamepads_is_connected(index) { return this.view.getUint32(this.base + 336 + index * 40, true); }
  gamepads_down(index) { return this.view.getUint32(this.base + 340 + index * 40, true); }
  gamepads_axes(index, element) { return this.view.getFloat32(this.base + 344 + index * 40 + element * 4, true); }
  get text_total() { return this.view.getUint32(this.base + 496, true); }
  text(element) { return this.view.getUint32(this.base + 504 + element * 4, true); }
}

// Throws unless the world was written by a program whose structures are those of this file; with the
// layout_hash of a world that is known, also unless its components are the same.
export function checkLayout(header, known) {
  const text = (hash) => `0x${hash.toString(16).padStart(16, '0')}`;
  if (header.magic !== WORLD_MAGIC) throw new Error('there is no world at this place');
  if (header.version !== WORLD_VERSION || header.structures_hash !== STRUCTURES_HASH) {
    throw new Error(`the image is laid out as ${text(header.structures_hash)} (version ${header.version});` +
      ` these views read ${text(STRUCTURES_HASH)} (version ${WORLD_VERSION})`);
  }
  if (known !== undefined && header.layout_hash !== known) {
    throw new Error(`the components are laid out as ${text(header.layout_hash)}; ${text(known)} is expected`);
  }
}
