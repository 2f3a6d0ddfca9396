// input_test.mjs <web/layout> <sample program> <folder>: an input block that JavaScript writes, as docs/ecs-shared.md
// says it does, is what C++ reads.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [layoutFolder, sample, folder] = process.argv.slice(2);
const layout = await import(pathToFileURL(join(layoutFolder, 'ecs_layout.mjs')));

const memory = new SharedArrayBuffer(layout.INPUT_BLOCK_BYTES);
const words = new Int32Array(memory);
const header = new DataView(memory);
new Uint8Array(memory).set(Array.from(layout.INPUT_MAGIC, (letter) => letter.charCodeAt(0)));
header.setUint32(8, layout.INPUT_VERSION, true);
header.setUint32(12, layout.InputRecord.BYTES, true);

// The writer's own copy of the record.
const record = new ArrayBuffer(layout.InputRecord.BYTES);
const view = new DataView(record);

function publish() {
  const first = layout.INPUT_RECORD_OFFSET / 4;
  const own = new Int32Array(record);
  Atomics.add(words, layout.INPUT_SEQUENCE_OFFSET / 4, 1);
  own.forEach((word, i) => Atomics.store(words, first + i, word));
  Atomics.add(words, layout.INPUT_SEQUENCE_OFFSET / 4, 1);
}
function setKey(key, isDown) {
  const byte = key >> 3;
  const bit = 1 << (key & 7);
  const bits = view.getUint8(byte);
  if (isDown && (bits & bit) === 0) view.setUint8(32 + key, view.getUint8(32 + key) + 1);
  view.setUint8(byte, isDown ? bits | bit : bits & ~bit);
}
function type(text) {
  for (const letter of text) {
    const total = view.getUint32(496, true);
    view.setUint32(504 + 4 * (total % 64), letter.codePointAt(0), true);
    view.setUint32(496, total + 1, true);
  }
}
function keep(name) {
  publish();
  const path = join(folder, name);
  writeFileSync(path, new Uint8Array(memory).slice());
  return path;
}

setKey(7, true);
type('never seen');
const before = keep('input_before.bin');
setKey(4, true);
setKey(4, false);
setKey(7, false);
setKey(255, true);
view.setFloat32(288, 100.5, true);
view.setFloat32(292, -3, true);
view.setInt32(296, 2.5 * 256, true);
view.setInt32(308, -256, true);
view.setUint32(312, 0b101, true);
view.setUint8(320, 1);
view.setUint8(322, 1);
view.setUint32(336 + 3 * 40, 1, true);
view.setUint32(340 + 3 * 40, 0x80000001, true);
view.setFloat32(344 + 3 * 40 + 7 * 4, 0.25, true);
type('Grüße 🐍');
const after = keep('input_after.bin');

assert.deepEqual(JSON.parse(execFileSync(sample, [before, after], { encoding: 'utf8' })), {
  down: [[4, 0, 1, 1], [7, 0, 0, 1], [255, 1, 1, 0]],
  at: [100.5, -3],
  moved: [2.5, -1],
  buttons: [5, 5],
  text: 'Grüße 🐍',
  pad: [1, 0x80000001, 0.25],
});
console.log('C++ reads the input that JavaScript wrote');
