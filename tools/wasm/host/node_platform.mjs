// What imports.mjs needs from node.

import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import * as os from 'node:os';

// Writes everything, also to a pipe whose reader is slow.
export function writeAll(fd, bytes) {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}

export const nodePlatform = {
  write: writeAll,
  nowNs: () => process.hrtime.bigint(),
  randomSeed: () => randomBytes(8).readBigInt64LE(),
  // Node 18 before 18.14 has no availableParallelism.
  coreCount: () => os.availableParallelism?.() ?? os.cpus().length,
};
