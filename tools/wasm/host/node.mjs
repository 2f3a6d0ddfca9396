// Runs a wasm program under node. The main thread is the host alone: it never blocks, as in a browser.

import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { writeAll } from './node_platform.mjs';
import { Program } from './program.mjs';

export const EXIT_FAILED = 70; // a trap, an abort or a broken worker
export const EXIT_TIMEOUT = 124;

function createWorker(setup, onMessage, onDeath) {
  const worker = new Worker(new URL('./node_worker.mjs', import.meta.url), { workerData: setup });
  worker.on('message', onMessage);
  worker.on('messageerror', (error) => onDeath(`a message was lost: ${error}`));
  worker.on('error', (error) => onDeath(error?.stack ?? String(error)));
  worker.on('exit', (code) => onDeath(`its worker ended with code ${code}`));
  return { post: (message) => worker.postMessage(message) };
}

function complain(text) {
  writeAll(2, new TextEncoder().encode(`${text}\n`));
}

// Runs the program in the file `path`; `args` are its arguments after its own name. Resolves to an exit code.
export async function runProgram(path, args, timeoutSeconds, maxWorkers) {
  const program = new Program(createWorker, maxWorkers);
  const timeout = new Promise((resolve) => {
    setTimeout(() => resolve({ timeout: true }), timeoutSeconds * 1000);
  });
  const result = await Promise.race([program.run(readFileSync(path), [path, ...args]), timeout]);
  if (result.timeout) {
    const names = program.runningThreads().join(', ') || 'none';
    complain(`${path}: not finished after ${timeoutSeconds} s, stopped. Threads still running: ${names}`);
    return EXIT_TIMEOUT;
  }
  if (result.failure !== undefined) {
    complain(`${path}: failed in ${result.failure}`);
    return EXIT_FAILED;
  }
  return result.code;
}
