// layout_test.mjs <web/layout> <sample program> <folder>: the generated views read what C++ wrote, each field where C++
// has it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [layoutFolder, sample, folder] = process.argv.slice(2);
const layout = await import(pathToFileURL(join(layoutFolder, 'ecs_layout.mjs')));
const tables = JSON.parse(readFileSync(join(layoutFolder, 'ecs_layout.json'), 'utf8'));

// Each getter reads the bytes that C++ says are its field's, by a look at them that the views have no part in.
function checkOffsets() {
  const bytes = Uint8Array.from({ length: 4096 }, (_, i) => (i * 37 + (i >> 8) * 11 + 1) & 0x7f);
  const view = new DataView(bytes.buffer);
  const wide = (offset, count) =>
    Array.from(bytes.slice(offset, offset + count)).reduceRight((sum, each) => sum * 256n + BigInt(each), 0n);
  for (const [name, { bytes: size, fields }] of Object.entries(tables.structs)) {
    const View = layout[name];
    assert.equal(View.BYTES, size, name);
    const value = new View(view, 64);
    let covered = 0;
    for (const field of fields) {
      covered += field.element_bytes * field.count * (field.structs ?? 1);
      const property = field.name.replaceAll('.', '_');
      if (property.startsWith('unused') || ['text', 'character', 'floating'].includes(field.kind)) continue;
      for (let index = 0; index < (field.structs ?? 1); index += 1) {
        for (let element = 0; element < field.count; element += 1) {
          const at = 64 + field.offset + index * (field.stride ?? 0) + element * field.element_bytes;
          const indices = [...(field.structs > 1 ? [index] : []), ...(field.count > 1 ? [element] : [])];
          const found = indices.length === 0 ? value[property] : value[property](...indices);
          assert.equal(BigInt(found), wide(at, field.element_bytes), `${name}.${field.name}`);
        }
      }
    }
    assert.equal(covered, size, `all bytes of ${name} belong to a field`);
  }
}

// A saved image whose pages are not packed: a header of 48 bytes, then a record of 16 for each page and its bytes.
function readSavedImage(path) {
  const file = readFileSync(path);
  assert.equal(file.toString('latin1', 0, 8), 'ourosave');
  const pages = new Map();
  let end = 0;
  for (let at = 48; ;) {
    const page = file.readUInt32LE(at);
    const bytes = file.readUInt32LE(at + 4);
    if (page === 0xffffffff) break;
    assert.equal(bytes, layout.PAGE_BYTES);
    pages.set(page, file.subarray(at + 16, at + 16 + bytes));
    end = Math.max(end, (page + 1) * bytes);
    at += 16 + bytes;
  }
  const image = new Uint8Array(end);
  for (const [page, bytes] of pages) image.set(bytes, page * layout.PAGE_BYTES);
  return new DataView(image.buffer);
}

function findWorld(view) {
  const image = new layout.ImageHeader(view, 0);
  assert.equal(image.magic, layout.IMAGE_MAGIC);
  assert.equal(image.part_count, 1);
  assert.equal(image.parts_name(0), 'town');
  const heap = new layout.ImageHeapHeader(view, Number(image.parts_offset(0)));
  assert.equal(heap.magic, layout.HEAP_MAGIC);
  for (let i = 0; i < heap.root_count; i += 1) {
    if (heap.roots_name(i) === layout.WORLD_ROOT) return new layout.WorldHeader(view, heap.roots_offset(i));
  }
  return assert.fail('the heap has no world');
}

function componentsOf(view, header) {
  return Array.from({ length: header.component_count }, (_, id) => {
    const record = new layout.ComponentRecord(view, header.components + id * layout.ComponentRecord.BYTES);
    const fields = Array.from({ length: record.field_count }, (_unused, i) =>
      new layout.FieldRecord(view, record.fields + i * layout.FieldRecord.BYTES));
    return { id, name: record.name, kind: layout.COMPONENT_KINDS[record.kind], fields };
  });
}

function placeOfRow(row) {
  let block = 0;
  let first = 0;
  let rows = layout.FIRST_BLOCK_ROWS;
  while (row >= first + rows) {
    first += rows;
    rows = first;
    block += 1;
  }
  return { block, index: row - first };
}

// An entity's components with their fields, found from its name.
function readEntity(view, header, components, bits) {
  const slot = new layout.EntitySlot(view, header.entities + Number(bits & 0xffffffffn) * layout.EntitySlot.BYTES);
  if (slot.archetype === layout.NO_ARCHETYPE || BigInt(slot.generation) !== bits >> 32n) return undefined;
  const archetype = new layout.ArchetypeRecord(view, header.archetypes + slot.archetype * layout.ArchetypeRecord.BYTES);
  const found = {};
  for (const { id, name } of components) {
    if (((archetype.mask_words(id >> 6) >> BigInt(id % 64)) & 1n) === 1n) found[name] = {};
  }
  const { block, index } = placeOfRow(slot.row);
  for (let i = 0; i < archetype.column_count; i += 1) {
    const column = new layout.ColumnRecord(view, archetype.columns + i * layout.ColumnRecord.BYTES);
    const data = new layout.BlockColumn(view, archetype.blocks(block) + i * layout.BlockColumn.BYTES).data;
    const cell = data + index * column.bytes;
    for (const field of components[column.component].fields) {
      const kind = layout.FIELD_KINDS[field.kind];
      found[components[column.component].name][field.name] =
        kind === 'floating' ? view.getFloat32(cell + field.offset, true) : view.getInt32(cell + field.offset, true);
    }
    if (column.component === layout.ENTITY_COMPONENT) assert.equal(view.getBigUint64(cell, true), bits);
  }
  return found;
}

// What other programs wrote is refused with both hashes, and so are other components than those that are known.
function checkLayoutIsAsked(image, header) {
  const text = (hash) => `0x${hash.toString(16).padStart(16, '0')}`;
  layout.checkLayout(header);
  layout.checkLayout(header, header.layout_hash);
  assert.throws(() => layout.checkLayout(header, 7n),
    (error) => error.message.includes(text(7n)) && error.message.includes(text(header.layout_hash)));
  const bytes = image.buffer.slice(header.base, header.base + layout.WorldHeader.BYTES);
  const copy = new layout.WorldHeader(new DataView(bytes), 0);
  const { offset } = tables.structs.WorldHeader.fields.find((field) => field.name === 'structures_hash');
  copy.view.setBigUint64(offset, 7n, true);
  assert.throws(() => layout.checkLayout(copy),
    (error) => error.message.includes(text(7n)) && error.message.includes(text(layout.STRUCTURES_HASH)));
}

checkOffsets();
const path = join(folder, 'layout_sample.image');
const told = JSON.parse(execFileSync(sample, [path], { encoding: 'utf8' }));
const view = readSavedImage(path);
const header = findWorld(view);
checkLayoutIsAsked(view, header);
assert.equal(header.live_entities, told.live);
const components = componentsOf(view, header);
for (const each of told.entities) {
  const entity = readEntity(view, header, components, BigInt(each.bits));
  if (each.x === undefined) {
    assert.equal(entity, undefined);
    continue;
  }
  assert.deepEqual(entity.Place, { x: each.x, y: each.y });
  assert.deepEqual(entity.Health, each.points === undefined ? undefined : { points: each.points });
  assert.equal('Asleep' in entity, each.asleep);
}
console.log(`${told.entities.length} entities are what C++ wrote`);
