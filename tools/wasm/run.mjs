#!/usr/bin/env node
// run.mjs [--timeout=SECONDS] [--max-workers=COUNT] PROGRAM.wasm [ARGUMENT...]
//
// Runs a program of the wasm preset with node's workers as its threads, and ends with its exit code;
// 70 when a thread failed, 124 when the time was over. OURO_WASM_TIMEOUT_S sets the time as well. A thread
// that would need one worker too many is refused, which the program can handle.

import { runProgram } from './host/node.mjs';

const DEFAULT_TIMEOUT_S = 880; // a little less than what ctest grants, so that the message is seen
const DEFAULT_MAX_WORKERS = 256; // each costs some megabytes
const USAGE = 'usage: run.mjs [--timeout=SECONDS] [--max-workers=COUNT] PROGRAM.wasm [ARGUMENT...]';

function parse(argv) {
  let timeout = Number(process.env.OURO_WASM_TIMEOUT_S ?? DEFAULT_TIMEOUT_S);
  let maxWorkers = DEFAULT_MAX_WORKERS;
  const rest = [...argv];
  while (rest[0]?.startsWith('--')) {
    const match = /^--(timeout|max-workers)=(.+)$/.exec(rest.shift());
    if (!match) return undefined;
    if (match[1] === 'timeout') timeout = Number(match[2]);
    else maxWorkers = Number(match[2]);
  }
  const [path, ...args] = rest;
  const valid = path !== undefined && timeout > 0 && timeout < 2e6 && maxWorkers >= 1;
  return valid ? { path, args, timeout, maxWorkers } : undefined;
}

const options = parse(process.argv.slice(2));
if (!options) {
  console.error(USAGE);
  process.exit(64);
}
try {
  process.exit(await runProgram(options.path, options.args, options.timeout, options.maxWorkers));
} catch (error) {
  console.error(`${options.path}: cannot be run: ${error.message}`);
  process.exit(70);
}
