// What a world is in an image. Written by ouro_write_layout from the structures of C++: change those,
// and write it again (docs/ecs-tools.md).

export const IMAGE_MAGIC = "ouroimg" as const;
export const HEAP_MAGIC = "ouroheap" as const;
export const WORLD_MAGIC = "ouroecs" as const;
export const WORLD_ROOT = "ecs" as const;
export const IMAGE_VERSION = 1 as const;
export const HEAP_VERSION = 1 as const;
export const WORLD_VERSION = 2 as const;
export const PAGE_BYTES = 4096 as const;
export const MAX_COMPONENTS = 256 as const;
export const FIRST_BLOCK_ROWS = 64 as const;
export const MAX_BLOCKS = 24 as const;
export const NO_ARCHETYPE = 65535 as const;
export const ENTITY_COMPONENT = 0 as const;
export const SPARSE_PAGE_SLOTS = 1024 as const;
export const HEAT_HOT = 0 as const;
export const HEAT_WARM = 1 as const;
export const HEAT_COLD = 2 as const;
export const KIND_COLUMN = 0 as const;
export const KIND_TAG = 1 as const;
export const KIND_SPARSE = 2 as const;
export const KIND_SINGLETON = 3 as const;
export const ROLE_PLAIN = 0 as const;
export const ROLE_NAME = 1 as const;
export const ROLE_LINK = 2 as const;
export const ROLE_SOURCES_STAY = 3 as const;
export const ROLE_SOURCES_FOLLOW = 4 as const;
export const CHANGES_NONE = 0 as const;
export const CHANGES_SOME = 1 as const;
export const CHANGES_ALL = 2 as const;
export const FIELD_BOOLEAN = 0 as const;
export const FIELD_CHARACTER = 1 as const;
export const FIELD_SIGNED = 2 as const;
export const FIELD_UNSIGNED = 3 as const;
export const FIELD_FLOATING = 4 as const;
export const FIELD_TEXT = 5 as const;
export const FIELD_HANDLE = 6 as const;
export const FIELD_OFFSET = 7 as const;
export const FIELD_OPAQUE = 8 as const;
export const STRUCTURES_HASH = 0xcf8289a524022e2en as const;
export const INPUT_MAGIC = "ouroinp" as const;
export const INPUT_VERSION = 1 as const;
export const INPUT_BLOCK_BYTES = 832 as const;
export const INPUT_SEQUENCE_OFFSET = 16 as const;
export const INPUT_RECORD_OFFSET = 64 as const;
export const COMPONENT_KINDS = ["column", "tag", "sparse", "singleton"] as const;
export const HEATS = ["hot", "warm", "cold"] as const;
export const CHANGES = ["none", "some", "all"] as const;
export const FIELD_KINDS = [
  "boolean", "character", "signed", "unsigned", "floating", "text", "handle", "offset", "opaque",
] as const;

// Up to the first zero.
function readCharacters(view: DataView, offset: number, bytes: number): string {
  let text = '';
  for (let i = 0; i < bytes; i += 1) {
    const code = view.getUint8(offset + i);
    if (code === 0) break;
    text += String.fromCharCode(code);
  }
  return text;
}

// A FixedString: its length, in two bytes when it can be long, then its characters.
function readText(view: DataView, offset: number, bytes: number): string {
  const front = bytes - 1 <= 255 ? 1 : 2;
  const length = front === 1 ? view.getUint8(offset) : view.getUint16(offset, true);
  const characters = new Uint8Array(view.buffer, view.byteOffset + offset + front,
    Math.min(length, bytes - front));
  return new TextDecoder().decode(characters.slice());
}

export class ImageHeader {
  static readonly BYTES = 1568;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  get magic(): string { return readCharacters(this.view, this.base + 0, 8); }
  get version(): number { return this.view.getUint32(this.base + 8, true); }
  get page_bytes(): number { return this.view.getUint32(this.base + 12, true); }
  get layout_hash(): bigint { return this.view.getBigUint64(this.base + 16, true); }
  get part_count(): number { return this.view.getUint32(this.base + 24, true); }
  parts_name(index: number): string { return readCharacters(this.view, this.base + 32 + index * 48, 32); }
  parts_offset(index: number): bigint { return this.view.getBigUint64(this.base + 64 + index * 48, true); }
  parts_bytes(index: number): bigint { return this.view.getBigUint64(this.base + 72 + index * 48, true); }
}

export class ImageHeapHeader {
  static readonly BYTES = 512;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  get magic(): string { return readCharacters(this.view, this.base + 0, 8); }
  get version(): number { return this.view.getUint32(this.base + 8, true); }
  get root_count(): number { return this.view.getUint32(this.base + 12, true); }
  get segment_bytes(): bigint { return this.view.getBigUint64(this.base + 16, true); }
  get notes_bytes(): bigint { return this.view.getBigUint64(this.base + 24, true); }
  roots_name(index: number): string { return readText(this.view, this.base + 32 + index * 32, 24); }
  roots_offset(index: number): number { return this.view.getUint32(this.base + 56 + index * 32, true); }
  roots_bytes(index: number): number { return this.view.getUint32(this.base + 60 + index * 32, true); }
}

export class WorldHeader {
  static readonly BYTES = 128;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  get magic(): string { return readCharacters(this.view, this.base + 0, 8); }
  get version(): number { return this.view.getUint32(this.base + 8, true); }
  get tick(): number { return this.view.getUint32(this.base + 12, true); }
  get component_count(): number { return this.view.getUint32(this.base + 16, true); }
  get archetype_count(): number { return this.view.getUint32(this.base + 20, true); }
  get max_entities(): number { return this.view.getUint32(this.base + 24, true); }
  get max_archetypes(): number { return this.view.getUint32(this.base + 28, true); }
  get used_slots(): number { return this.view.getUint32(this.base + 32, true); }
  get live_entities(): number { return this.view.getUint32(this.base + 36, true); }
  get retired_slots(): number { return this.view.getUint32(this.base + 40, true); }
  get first_free(): number { return this.view.getUint32(this.base + 44, true); }
  get components(): number { return this.view.getUint32(this.base + 48, true); }
  get entities(): number { return this.view.getUint32(this.base + 52, true); }
  get archetypes(): number { return this.view.getUint32(this.base + 56, true); }
  get names(): number { return this.view.getUint32(this.base + 60, true); }
  arenas_cursor(index: number): number { return this.view.getUint32(this.base + 64 + index * 8, true); }
  arenas_end(index: number): number { return this.view.getUint32(this.base + 68 + index * 8, true); }
  get registry_hash(): bigint { return this.view.getBigUint64(this.base + 88, true); }
  get first_sparse(): number { return this.view.getUint32(this.base + 96, true); }
  get prefab_archetypes(): number { return this.view.getUint32(this.base + 100, true); }
  get structures_hash(): bigint { return this.view.getBigUint64(this.base + 104, true); }
  get layout_hash(): bigint { return this.view.getBigUint64(this.base + 112, true); }
}

export class ComponentRecord {
  static readonly BYTES = 96;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  get name(): string { return readText(this.view, this.base + 0, 48); }
  get layout_hash(): bigint { return this.view.getBigUint64(this.base + 48, true); }
  get bytes(): number { return this.view.getUint32(this.base + 56, true); }
  get alignment(): number { return this.view.getUint16(this.base + 60, true); }
  get heat(): number { return this.view.getUint8(this.base + 62); }
  get kind(): number { return this.view.getUint8(this.base + 63); }
  get fields(): number { return this.view.getUint32(this.base + 64, true); }
  get field_count(): number { return this.view.getUint16(this.base + 68, true); }
  get toggles(): number { return this.view.getUint16(this.base + 70, true); }
  get data(): number { return this.view.getUint32(this.base + 72, true); }
  get changed_tick(): number { return this.view.getUint32(this.base + 76, true); }
}

export class FieldRecord {
  static readonly BYTES = 64;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  get name(): string { return readText(this.view, this.base + 0, 48); }
  get offset(): number { return this.view.getUint32(this.base + 48, true); }
  get element_bytes(): number { return this.view.getUint32(this.base + 52, true); }
  get count(): number { return this.view.getUint32(this.base + 56, true); }
  get kind(): number { return this.view.getUint8(this.base + 60); }
}

export class EntitySlot {
  static readonly BYTES = 8;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  get row(): number { return this.view.getUint32(this.base + 0, true); }
  get archetype(): number { return this.view.getUint16(this.base + 4, true); }
  get generation(): number { return this.view.getUint16(this.base + 6, true); }
}

export class ArchetypeRecord {
  static readonly BYTES = 192;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  mask_words(element: number): bigint { return this.view.getBigUint64(this.base + 0 + element * 8, true); }
  get chain_hash(): bigint { return this.view.getBigUint64(this.base + 32, true); }
  get row_count(): number { return this.view.getUint32(this.base + 40, true); }
  get column_count(): number { return this.view.getUint16(this.base + 44, true); }
  get block_count(): number { return this.view.getUint16(this.base + 46, true); }
  get columns(): number { return this.view.getUint32(this.base + 48, true); }
  get column_map(): number { return this.view.getUint32(this.base + 52, true); }
  get column_map_bytes(): number { return this.view.getUint32(this.base + 56, true); }
  get added_tick(): number { return this.view.getUint32(this.base + 60, true); }
  get added_from(): number { return this.view.getUint32(this.base + 64, true); }
  get added_before(): number { return this.view.getUint32(this.base + 68, true); }
  blocks(element: number): number { return this.view.getUint32(this.base + 72 + element * 4, true); }
}

export class ColumnRecord {
  static readonly BYTES = 8;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  get bytes(): number { return this.view.getUint32(this.base + 0, true); }
  get component(): number { return this.view.getUint16(this.base + 4, true); }
  get toggles(): number { return this.view.getUint16(this.base + 6, true); }
}

export class BlockColumn {
  static readonly BYTES = 16;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  get data(): number { return this.view.getUint32(this.base + 0, true); }
  get planes(): number { return this.view.getUint32(this.base + 4, true); }
  get tick(): number { return this.view.getUint32(this.base + 8, true); }
  get now(): number { return this.view.getUint8(this.base + 12); }
  get before(): number { return this.view.getUint8(this.base + 13); }
  get has_disabled(): number { return this.view.getUint8(this.base + 14); }
  get turn(): number { return this.view.getUint8(this.base + 15); }
}

export class SparseTable {
  static readonly BYTES = 224;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  rows_mask_words(element: number): bigint { return this.view.getBigUint64(this.base + 0 + element * 8, true); }
  get rows_chain_hash(): bigint { return this.view.getBigUint64(this.base + 32, true); }
  get rows_row_count(): number { return this.view.getUint32(this.base + 40, true); }
  get rows_column_count(): number { return this.view.getUint16(this.base + 44, true); }
  get rows_block_count(): number { return this.view.getUint16(this.base + 46, true); }
  get rows_columns(): number { return this.view.getUint32(this.base + 48, true); }
  get rows_column_map(): number { return this.view.getUint32(this.base + 52, true); }
  get rows_column_map_bytes(): number { return this.view.getUint32(this.base + 56, true); }
  get rows_added_tick(): number { return this.view.getUint32(this.base + 60, true); }
  get rows_added_from(): number { return this.view.getUint32(this.base + 64, true); }
  get rows_added_before(): number { return this.view.getUint32(this.base + 68, true); }
  rows_blocks(element: number): number { return this.view.getUint32(this.base + 72 + element * 4, true); }
  rows_unused(element: number): number { return this.view.getUint32(this.base + 168 + element * 4, true); }
  get pages(): number { return this.view.getUint32(this.base + 192, true); }
  get page_count(): number { return this.view.getUint32(this.base + 196, true); }
  get next(): number { return this.view.getUint32(this.base + 200, true); }
  get partner(): number { return this.view.getUint32(this.base + 204, true); }
  get doomed_first(): number { return this.view.getUint32(this.base + 208, true); }
  get doomed_last(): number { return this.view.getUint32(this.base + 212, true); }
  get component(): number { return this.view.getUint16(this.base + 216, true); }
  get role(): number { return this.view.getUint8(this.base + 218); }
}

export class InputState {
  static readonly BYTES = 584;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  keys_down(element: number): bigint { return this.view.getBigUint64(this.base + 0 + element * 8, true); }
  keys_pressed(element: number): bigint { return this.view.getBigUint64(this.base + 32 + element * 8, true); }
  keys_released(element: number): bigint { return this.view.getBigUint64(this.base + 64 + element * 8, true); }
  get mouse_x(): number { return this.view.getFloat32(this.base + 96, true); }
  get mouse_y(): number { return this.view.getFloat32(this.base + 100, true); }
  get mouse_moved_x(): number { return this.view.getFloat32(this.base + 104, true); }
  get mouse_moved_y(): number { return this.view.getFloat32(this.base + 108, true); }
  get mouse_wheel_x(): number { return this.view.getFloat32(this.base + 112, true); }
  get mouse_wheel_y(): number { return this.view.getFloat32(this.base + 116, true); }
  get mouse_down(): number { return this.view.getUint16(this.base + 120, true); }
  get mouse_pressed(): number { return this.view.getUint16(this.base + 122, true); }
  get mouse_released(): number { return this.view.getUint16(this.base + 124, true); }
  get mouse_unused(): number { return this.view.getUint16(this.base + 126, true); }
  gamepads_axes(index: number, element: number): number {
    return this.view.getFloat32(this.base + 128 + index * 48 + element * 4, true);
  }
  gamepads_down(index: number): number { return this.view.getUint32(this.base + 160 + index * 48, true); }
  gamepads_pressed(index: number): number { return this.view.getUint32(this.base + 164 + index * 48, true); }
  gamepads_released(index: number): number { return this.view.getUint32(this.base + 168 + index * 48, true); }
  gamepads_is_connected(index: number): number { return this.view.getUint32(this.base + 172 + index * 48, true); }
  text(element: number): number { return this.view.getUint32(this.base + 320 + element * 4, true); }
  get text_count(): number { return this.view.getUint32(this.base + 576, true); }
  get text_dropped(): number { return this.view.getUint32(this.base + 580, true); }
}

export class InputRecord {
  static readonly BYTES = 760;
  readonly view: DataView;
  readonly base: number;
  constructor(view: DataView, base: number) {
    this.view = view;
    this.base = base;
  }
  keys_down(element: number): bigint { return this.view.getBigUint64(this.base + 0 + element * 8, true); }
  key_presses(element: number): number { return this.view.getUint8(this.base + 32 + element * 1); }
  get mouse_x(): number { return this.view.getFloat32(this.base + 288, true); }
  get mouse_y(): number { return this.view.getFloat32(this.base + 292, true); }
  get mouse_move_x(): number { return this.view.getInt32(this.base + 296, true); }
  get mouse_move_y(): number { return this.view.getInt32(this.base + 300, true); }
  get mouse_wheel_x(): number { return this.view.getInt32(this.base + 304, true); }
  get mouse_wheel_y(): number { return this.view.getInt32(this.base + 308, true); }
  get mouse_down(): number { return this.view.getUint32(this.base + 312, true); }
  get mouse_unused(): number { return this.view.getUint32(this.base + 316, true); }
  mouse_presses(element: number): number { return this.view.getUint8(this.base + 320 + element * 1); }
  gamepads_is_connected(index: number): number { return this.view.getUint32(this.base + 336 + index * 40, true); }
  gamepads_down(index: number): number { return this.view.getUint32(this.base + 340 + index * 40, true); }
  gamepads_axes(index: number, element: number): number {
    return this.view.getFloat32(this.base + 344 + index * 40 + element * 4, true);
  }
  get text_total(): number { return this.view.getUint32(this.base + 496, true); }
  text(element: number): number { return this.view.getUint32(this.base + 504 + element * 4, true); }
}

// Throws unless the world was written by a program whose structures are those of this file; with the
// layout_hash of a world that is known, also unless its components are the same.
export function checkLayout(header: WorldHeader, known?: bigint): void {
  const text = (hash: bigint) => `0x${hash.toString(16).padStart(16, '0')}`;
  if (header.magic !== WORLD_MAGIC) throw new Error('there is no world at this place');
  if (header.version !== WORLD_VERSION || header.structures_hash !== STRUCTURES_HASH) {
    throw new Error(`the image is laid out as ${text(header.structures_hash)} (version ${header.version});` +
      ` these views read ${text(STRUCTURES_HASH)} (version ${WORLD_VERSION})`);
  }
  if (known !== undefined && header.layout_hash !== known) {
    throw new Error(`the components are laid out as ${text(header.layout_hash)}; ${text(known)} is expected`);
  }
}
