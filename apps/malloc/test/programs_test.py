"""Usage: programs_test.py <library> <cmake> <compiler>

Programs of others run unchanged with the library preloaded: what they print is what they print without it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY = os.path.realpath(sys.argv.pop(1))
CMAKE, COMPILER = (sys.argv.pop(1) for _ in range(2))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))

PYTHON = """
import hashlib, json, multiprocessing, subprocess, sys, threading
def work(number):
    data = [{'n': i, 't': 'x' * (i % 300), 'l': list(range(i % 50))} for i in range(3000)]
    text = json.dumps(json.loads(json.dumps(data)))
    return hashlib.sha256((text + str(number)).encode()).hexdigest()
found = {}
def put(number): found[number] = work(number)
threads = [threading.Thread(target=put, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
child = subprocess.run([sys.executable, '-c', 'print(sorted(str(i) for i in range(2000))[-1])'], capture_output=True)
for thread in threads: thread.join()
with multiprocessing.get_context('fork').Pool(2) as pool: found['pool'] = pool.map(work, range(4))
big = bytearray()
for i in range(200): big += bytes([i]) * 400_000
print(sorted(found.items(), key=str), child.stdout, hashlib.sha256(big).hexdigest())
"""

PERL = """
my %words; my @list;
for my $i (1 .. 60000) { my $w = 'w' x ($i % 40) . ($i * 7919 % 1009); $words{$w}++; push @list, $w . reverse $w; }
my $text = join ',', sort { $words{$b} <=> $words{$a} || $a cmp $b } keys %words;
for (1 .. 30) { $text =~ s/w{3}([0-9])/v$1/g; $text .= $text if length $text < 4000000; }
my $sum = 0; $sum = ($sum * 31 + ord) % 1000003 for split //, substr $text, 0, 300000;
print scalar(@list), ' ', length $text, ' ', $sum, ' ', `echo child`;
"""

NODE = """
const { Worker } = require('worker_threads');
const { execFileSync } = require('child_process');
const crypto = require('crypto');
const objects = [];
for (let i = 0; i < 100000; i++) objects.push({ i, t: 'x'.repeat(i % 100), b: Buffer.alloc(i % 500, i) });
const hash = crypto.createHash('sha256');
for (const o of objects) { hash.update(o.t); hash.update(o.b); }
console.log(hash.digest('hex'), execFileSync('echo', ['child']).toString().trim());
const code = `let s = 0; const a = []; for (let i = 0; i < 200000; i++) { a.push([i]); s = (s * 31 + i) % 1000003; }
require('worker_threads').parentPort.postMessage(s + a.length);`;
let left = 3;
for (let n = 0; n < 3; n++)
  new Worker(code, { eval: true }).on('message', m => { console.log(m); if (!--left) console.log('end'); });
"""

SQL = """
CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, value REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO t SELECT i, 'name ' || (i * 7919 % 10007), i * 0.5 FROM n;
CREATE INDEX by_name ON t(name);
SELECT count(*), sum(value) FROM t;
SELECT name, count(*) AS c, group_concat(id) FROM t GROUP BY name ORDER BY c DESC, name LIMIT 20;
UPDATE t SET name = upper(name) WHERE id % 3 = 0;
DELETE FROM t WHERE id % 5 = 0;
SELECT length(group_concat(name, ';')) FROM t;
VACUUM;
PRAGMA integrity_check;
"""

GIT = """
set -e
git init -q -b main .
git config user.name Someone && git config user.email someone@example.com
for i in 1 2 3; do
    for f in $(seq 1 60); do seq $((i * f)) $((i * f + 400)) >file$f; done
    git add . && git commit -q -m "number $i"
done
git log --stat --format='%H %an %s'
git gc -q --aggressive && git fsck --strict 2>/dev/null && git diff HEAD~2 | sha256sum
git count-objects -v | grep -v size
"""


def run(command, preload, folder, text=None, words=""):
    environment = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
                       GIT_AUTHOR_DATE="2020-01-01T00:00:00Z", GIT_COMMITTER_DATE="2020-01-01T00:00:00Z",
                       CCACHE_DISABLE="1", PYTHONHASHSEED="0")
    environment.pop("OUROBOROS_MALLOC", None)
    environment.pop("LD_PRELOAD", None)
    if preload:
        environment["LD_PRELOAD"] = LIBRARY
        environment["OUROBOROS_MALLOC"] = words
    result = subprocess.run(command, cwd=folder, env=environment, input=text, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=200)
    return f"code {result.returncode}\n{result.stdout}"


class RealPrograms(unittest.TestCase):
    def assert_unchanged(self, command, text=None, words=""):
        if shutil.which(command[0]) is None:
            self.fail(f"{command[0]} is missing; tools/setup test installs it")
        outputs = []
        for preload in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                outputs.append(run(command, preload, folder, text, words))
        self.assertTrue(outputs[0].startswith("code 0\n"), outputs[0])
        self.assertGreater(len(outputs[0]), 20, outputs[0])
        self.assertEqual(outputs[1], outputs[0])

    def test_it_is_in_use(self):
        with tempfile.TemporaryDirectory() as folder:
            code = "print('ouroboros-malloc' in open('/proc/self/maps').read())"
            self.assertEqual(run([sys.executable, "-c", code], True, folder), "code 0\nTrue\n")

    def test_python(self):
        self.assert_unchanged([sys.executable, "-c", PYTHON])

    def test_perl(self):
        self.assert_unchanged(["perl", "-e", PERL])

    def test_node(self):
        self.assert_unchanged([os.environ.get("OURO_NODE") or "node", "-e", NODE])

    def test_sqlite(self):
        self.assert_unchanged(["sqlite3", ":memory:"], SQL)

    def test_git(self):
        self.assert_unchanged(["sh", "-c", GIT])

    def test_python_with_guarded_blocks(self):
        self.assert_unchanged([sys.executable, "-c", PYTHON], words="guard=50")

    def test_git_with_guarded_blocks(self):
        self.assert_unchanged(["sh", "-c", GIT], words="guard=50")

    def test_cmake_and_the_compiler_build_a_module(self):
        with tempfile.TemporaryDirectory() as folder:
            configure = [CMAKE, "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={COMPILER}",
                         "-DCMAKE_BUILD_TYPE=Debug", "-DOURO_BUILD_TESTS=OFF", "-DOURO_BUILD_BENCHES=OFF",
                         "-DOURO_BUILD_APPS=OFF", "-DOURO_BUILD_SYMBOLIZE=OFF"]
            for command in (configure, [CMAKE, "--build", folder, "--target", "ouro_base", "-j2"]):
                output = run(command, True, folder)
                self.assertTrue(output.startswith("code 0\n"), output)
            found = [name for _, _, names in os.walk(folder) for name in names if name == "libouroboros_base.a"]
            self.assertEqual(len(found), 1)


if __name__ == "__main__":
    unittest.main()
