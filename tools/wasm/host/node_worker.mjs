// The body of a node worker: hands what the host sends to the shared runner.

import { parentPort, workerData } from 'node:worker_threads';
import { nodePlatform } from './node_platform.mjs';
import { ThreadRunner } from './thread.mjs';

const runner = new ThreadRunner(nodePlatform, workerData, (message) => parentPort.postMessage(message));
parentPort.on('message', (message) => runner.handle(message));
