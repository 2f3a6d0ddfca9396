// What runs inside a worker, for node and browsers alike: one instance of the module, which serves the main
// program or one thread after the other.
//
// Messages from the host: { kind: 'main' } or { kind: 'thread', thread, stackTop, tlsBlock, name }.
// Messages to the host: { kind: 'start', thread, stackTop, tlsBlock, name }   a thread is wanted
//                       { kind: 'idle' }                                      ready for another thread
//                       { kind: 'exit', code }                                the program ended
//                       { kind: 'failed', message }                           a trap, an abort or an error

import { LinearMemory, ProgramAbort, ProgramExit, makeImports } from './imports.mjs';

const THREAD_FINISHED = 3; // ouro_wasm_thread_finished in runtime/thread.h

function describe(error) {
  if (error instanceof ProgramAbort) return error.stack.replace(/^Error/, 'abort');
  return error?.stack ?? String(error);
}

export class ThreadRunner {
  // `setup` is { module, memory, maximumPages, args }; `post` sends a message to the host at once.
  constructor(platform, setup, post) {
    this.post = post;
    this.memory = new LinearMemory(setup.memory);
    const imports = makeImports(platform, {
      memory: this.memory,
      maximumPages: setup.maximumPages,
      args: setup.args,
      requestThread: (request) => post({ kind: 'start', ...request }),
    });
    this.exports = new WebAssembly.Instance(setup.module, imports).exports;
  }

  handle(message) {
    try {
      if (message.kind === 'main') {
        this.post({ kind: 'exit', code: this.exports.ouro_wasm_program_enter() });
      } else {
        this.runThread(message);
        this.post({ kind: 'idle' });
      }
    } catch (error) {
      if (error instanceof ProgramExit) this.post({ kind: 'exit', code: error.code });
      else this.post({ kind: 'failed', message: describe(error) });
    }
  }

  runThread({ thread, stackTop, tlsBlock }) {
    this.exports.__stack_pointer.value = stackTop;
    this.exports.__wasm_init_tls(tlsBlock);
    this.exports.ouro_wasm_thread_enter(thread);
    // Only now is the stack free: whoever joins may reuse its memory at once.
    this.memory.storeAndNotify(thread, THREAD_FINISHED);
  }
}
