// The host of one program, for node and browsers alike: it compiles the module, owns the workers and never
// blocks. Workers cannot create workers while they wait, which is why all of them are created here.

import { LinearMemory } from './imports.mjs';
import { importedMemoryLimits } from './memory_limits.mjs';

// As in runtime/thread.h.
const THREAD_RUNNING = 2;
const THREAD_REFUSED = 4;

export class Program {
  // `createWorker(setup, onMessage, onDeath)` returns { post(message) }. onMessage gets what the worker
  // sends, onDeath a reason if the worker ends by itself. Threads beyond `maxWorkers`, main among them, are
  // refused.
  constructor(createWorker, maxWorkers) {
    this.createWorker = createWorker;
    this.maxWorkers = maxWorkers;
    this.workerCount = 0;
    this.idle = [];
    this.running = new Map(); // worker → name of the thread it runs
    this.threadCount = 1;
  }

  // Runs the program's main to its end. Returns { code } or { failure: string }.
  async run(bytes, args) {
    const limits = importedMemoryLimits(bytes);
    const memory = new WebAssembly.Memory(limits);
    this.memory = new LinearMemory(memory);
    const module = await WebAssembly.compile(bytes);
    this.setup = { module, memory, maximumPages: limits.maximum, args };
    return new Promise((resolve) => {
      this.finish = resolve;
      this.assign(this.newWorker(), { kind: 'main', name: 'main' });
    });
  }

  // The names of the threads that have not ended.
  runningThreads() {
    return [...this.running.values()];
  }

  assign(worker, task) {
    this.running.set(worker, task.name);
    worker.post(task);
  }

  newWorker() {
    if (this.workerCount >= this.maxWorkers) throw new Error(`no more than ${this.maxWorkers} workers`);
    const worker = this.createWorker(
      this.setup,
      (message) => this.handle(worker, message),
      (reason) => this.fail(worker, reason),
    );
    ++this.workerCount;
    return worker;
  }

  handle(worker, message) {
    switch (message.kind) {
      case 'start':
        this.startThread(message);
        break;
      case 'idle':
        this.running.delete(worker);
        this.idle.push(worker);
        break;
      case 'exit':
        this.finish({ code: message.code });
        break;
      case 'failed':
        this.fail(worker, message.message);
        break;
      default:
        this.fail(worker, `an unknown message: ${JSON.stringify(message)}`);
    }
  }

  startThread({ thread, stackTop, tlsBlock, name }) {
    const number = ++this.threadCount;
    const fullName = name === '' ? `thread ${number}` : `thread ${number} (${name})`;
    let worker;
    try {
      worker = this.idle.pop() ?? this.newWorker();
    } catch (error) {
      // Whoever started or joins the thread learns that it never ran.
      this.memory.storeAndNotify(thread, THREAD_REFUSED);
      return;
    }
    // Before the worker hears of it: it may store the end of the thread at any moment after that.
    this.memory.storeAndNotify(thread, THREAD_RUNNING);
    this.assign(worker, { kind: 'thread', thread, stackTop, tlsBlock, name: fullName });
  }

  fail(worker, reason) {
    this.finish({ failure: `${this.running.get(worker) ?? 'an idle worker'}: ${reason}` });
  }
}
