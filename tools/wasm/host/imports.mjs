// The host's side of runtime/host.hpp, for node and browsers alike. What differs between them comes in as
// `platform`: { write(fd, bytes), nowNs() → BigInt, randomSeed() → BigInt, coreCount() → number }.

const MATH_1 = ['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'exp', 'log', 'log2', 'log10', 'cbrt'].map(
  (name) => Math[name],
);
const MATH_2 = [Math.atan2, Math.pow, (x, y) => x % y];

// Unwinds a thread whose program asked to end; not an error.
export class ProgramExit {
  constructor(code) {
    this.code = code;
  }
}

// The program gave up by itself, with a message of its own.
export class ProgramAbort extends Error {}

// Access to linear memory that other threads may grow at any time.
export class LinearMemory {
  constructor(memory) {
    this.memory = memory;
  }

  bytes(address, length) {
    const end = address + length;
    // Growth by another thread may not have reached this one's view; growing by nothing refreshes it.
    if (end > this.memory.buffer.byteLength) this.memory.grow(0);
    return new Uint8Array(this.memory.buffer, address, length);
  }

  // A copy, since neither decoders nor file functions take shared memory everywhere.
  text(address, length) {
    return new TextDecoder().decode(this.bytes(address, length).slice());
  }

  // Stores a word for threads that wait for it, and wakes all of them.
  storeAndNotify(address, value) {
    const view = this.bytes(address, 4);
    const word = new Int32Array(view.buffer, address, 1);
    Atomics.store(word, 0, value);
    Atomics.notify(word, 0);
  }
}

// `thread` is { memory: LinearMemory, maximumPages: number, args: [string],
//              requestThread({thread, stackTop, tlsBlock, name}) }.
export function makeImports(platform, thread) {
  const { memory } = thread;
  const argumentBlock = new TextEncoder().encode(thread.args.map((arg) => `${arg}\0`).join(''));
  return {
    env: { memory: memory.memory },
    ouro_host: {
      write(fd, address, length) {
        platform.write(fd, memory.bytes(address >>> 0, length >>> 0).slice());
      },
      now_ns: () => platform.nowNs(),
      random_seed: () => platform.randomSeed(),
      core_count: () => platform.coreCount(),
      maximum_pages: () => thread.maximumPages,
      argument_bytes: () => argumentBlock.length,
      copy_arguments(address) {
        memory.bytes(address >>> 0, argumentBlock.length).set(argumentBlock);
      },
      start_thread(address, stackTop, tlsBlock, name, nameBytes) {
        thread.requestThread({
          thread: address >>> 0,
          stackTop: stackTop >>> 0,
          tlsBlock: tlsBlock >>> 0,
          name: memory.text(name >>> 0, nameBytes >>> 0),
        });
      },
      exit(code) {
        throw new ProgramExit(code);
      },
      abort(address, length) {
        throw new ProgramAbort(memory.text(address >>> 0, length >>> 0));
      },
      math1: (which, x) => MATH_1[which](x),
      math2: (which, x, y) => MATH_2[which](x, y),
    },
  };
}
