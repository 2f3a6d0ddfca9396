// runner_test.mjs MISBEHAVE.wasm — checks how the runner reports programs that fail, hang or end early.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Program } from '../host/program.mjs';

const runner = fileURLToPath(new URL('../run.mjs', import.meta.url));
const program = process.argv[2];
let failures = 0;

function check(label, { options = [], args = [], env = {}, code, says = [], hides = [] }) {
  const run = spawnSync(process.execPath, [runner, ...options, program, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: 60_000,
  });
  const output = run.stdout + run.stderr;
  const problems = [];
  if (run.status !== code) problems.push(`exit code ${run.status ?? run.signal}, expected ${code}`);
  for (const text of says) if (!output.includes(text)) problems.push(`"${text}" was not said`);
  for (const text of hides) if (output.includes(text)) problems.push(`"${text}" was said`);
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${label}`);
  for (const problem of problems) console.log(`       ${problem}`);
  if (problems.length > 0) console.log(output.replace(/^/gm, '       | '));
  failures += problems.length > 0 ? 1 : 0;
}

check('a failing test', {
  args: ['--gtest_filter=Misbehave.FailsAnExpectation'],
  code: 1,
  says: [
    'expected 1 + 1 == 3',
    'streamed 42',
    'while failing on purpose',
    'still running',
    '[  FAILED  ] 1 test',
    'goodbye',
  ],
  hides: ['never reached'],
});
check('a failure in a worker thread', {
  args: ['--gtest_filter=*InAWorker'],
  code: 1,
  says: ['expected index == 0'],
});
check('a skipped test', {
  args: ['--gtest_filter=*.Skips'],
  code: 0,
  says: ['Skipped\nfor a reason', '[  SKIPPED ] Misbehave.Skips', '[  PASSED  ] 0 tests.'],
});
check('a disabled test', { args: ['--gtest_filter=*Sleeps'], code: 0, hides: ['was run'] });
check('a disabled test that is asked for', {
  args: ['--gtest_filter=*Sleeps', '--gtest_also_run_disabled_tests'],
  code: 0,
  says: ['was run'],
});
check('the list of tests', {
  args: ['--gtest_list_tests'],
  code: 0,
  says: ['Misbehave.\n  FailsAnExpectation\n'],
});
check('a filter that selects nothing', {
  args: ['--gtest_filter=Nothing.*'],
  code: 0,
  says: ['[  PASSED  ] 0 tests.'],
});
check('a filter with a negative part', {
  args: ['--gtest_filter=Mis*-*Fails*'],
  code: 0,
  says: ['Running 1 test '],
});
check('exit codes pass through', { args: ['code', '12345'], code: 5 });
check('arguments arrive', { args: ['arguments', 'with space', ''], code: 0, says: ['[with space]\n[]\n'] });
check('a trap in a worker', {
  args: ['trap-in-worker'],
  code: 70,
  says: ['failed in thread 3 (test worker)', 'unreachable'],
});
check('a trap in the main thread', {
  args: ['trap-in-main'],
  code: 70,
  says: ['failed in main', 'unreachable'],
});
check('abort in a worker', {
  args: ['abort-in-worker'],
  code: 70,
  says: ['thread 2 (test worker)', 'abort was called'],
});
check('a failed assert of the modules', {
  args: ['assert-in-worker'],
  code: 70,
  says: ['assertion `index == 12345` failed: on purpose\n', 'thread 2 (test worker): abort: an assertion failed'],
});
check('stack overflow of the main thread', { args: ['overflow-main'], code: 70, says: ['failed in main'] });
check('stack overflow of a worker', {
  args: ['overflow-worker'],
  code: 70,
  says: ['thread 2 (test worker)'],
});
check('exit in a worker', { args: ['exit-in-worker'], code: 7, says: ['goodbye'] });
check('a block freed twice', { args: ['free-twice'], code: 70, says: ['heap: the block was freed before'] });
check('a deadlock, by flag', {
  options: ['--timeout=2'],
  args: ['deadlock'],
  code: 124,
  says: ['not finished after 2 s', 'main, thread 2 (test worker), thread 3 (test worker)'],
});
check('a deadlock, by environment', {
  args: ['deadlock'],
  env: { OURO_WASM_TIMEOUT_S: '1' },
  code: 124,
  says: ['not finished after 1 s'],
});
check('a thread too many', {
  options: ['--max-workers=3'],
  args: ['ask-for-threads'],
  code: 0,
  says: ['0 accepted\n1 accepted\n2 refused\n'],
});
check('a limit without room for the program', {
  options: ['--max-workers=0'],
  args: ['code', ''],
  code: 64,
  says: ['usage:'],
});
check('an unknown option', { options: ['--what'], code: 64, says: ['usage:'] });

// A host that gets no second worker: whoever joins the thread must learn it.
{
  const states = [];
  let created = 0;
  const host = new Program((setup, onMessage) => {
    if (++created > 1) throw new Error('no more workers');
    const word = new Int32Array(setup.memory.buffer, 1024, 1);
    return {
      post() {
        onMessage({ kind: 'start', thread: 1024, stackTop: 0, tlsBlock: 0, name: '' });
        states.push(Atomics.load(word, 0));
        onMessage({ kind: 'exit', code: 9 });
      },
    };
  }, 8);
  const result = await host.run(readFileSync(program), []);
  const right = result.code === 9 && states[0] === 4 && host.runningThreads().length === 1;
  console.log(`${right ? 'ok    ' : 'FAILED'} a worker that cannot be created`);
  failures += right ? 0 : 1;
}

process.exit(failures === 0 ? 0 : 1);
