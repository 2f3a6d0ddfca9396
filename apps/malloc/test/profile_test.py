"""Usage: profile_test.py <library> <profiled> <churn> <test of the family> <ouro>

A profile of programs that know nothing of it: who allocated what, and that nothing else changes.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

LIBRARY, PROFILED, CHURN, FAMILY, OURO = (os.path.realpath(sys.argv.pop(1)) for _ in range(5))
MIB = 1 << 20


def start(*command, words):
    environment = dict(os.environ, LD_PRELOAD=LIBRARY, OUROBOROS_MALLOC=words)
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=200)


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def decode(data):
    """A protobuf message as a list of fields, for each its number and its value."""
    fields, at = [], 0
    while at < len(data):
        key, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        fields.append((key >> 3, value))
    return fields


def numbers(data):
    values, at = [], 0
    while at < len(data):
        value, at = read_varint(data, at)
        values.append(value)
    return values


class Profile(unittest.TestCase):
    def profile(self, name, *command, words=""):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            result = start(*command, words=f"profile={path}{words}")
            self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
            with open(path, "rb") as file:
                return file.read()

    def live(self, words):
        """The estimated bytes of each function that calls malloc in the program, with the functions above it."""
        sums, callers = {}, {}
        for line in self.profile("stacks.folded", PROFILED, "keep", words=words).decode().splitlines():
            stack, count = line.rsplit(" ", 1)
            frames = stack.split(";")
            self.assertEqual(frames[0], "[untagged]")
            sums[frames[-1]] = sums.get(frames[-1], 0) + int(count)
            callers[frames[-1]] = frames[1:-1]
        return sums, callers

    def test_a_program_and_those_it_starts_do_not_write_over_each_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "all.folded")
            for files in (2, 3):
                result = start("bash", "-c", '"$0" keep; :', PROFILED, words=f"profile={path},profile_bytes=64K")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stderr.count("another process has just written"), 1, result.stderr)
                # The child ended first; what an earlier run left is written over.
                with open(path) as file:
                    self.assertIn("keep_here", file.read())
                self.assertEqual(len(os.listdir(folder)), files, os.listdir(folder))
                os.utime(path, (0, 0))

    def test_runs_that_follow_one_another_at_once_have_one_file(self):
        with tempfile.TemporaryDirectory() as folder:
            # By a shell without the setting: the next one begins while the clock of files has not moved.
            script = 'for run in 1 2 3 4 5 6 7 8 9 10; do env "$@" || exit 1; done'
            for name in ("all.ouro", "all.pb", "all.folded"):
                words = f"profile={folder}/{name}"
                result = subprocess.run(
                    ["sh", "-c", script, "sh", f"OUROBOROS_MALLOC={words}", f"LD_PRELOAD={LIBRARY}", "/bin/true"],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(sorted(os.listdir(folder)), ["all.folded", "all.ouro", "all.pb"])

    def test_names_who_keeps_memory_without_frame_pointers(self):
        sums, callers = self.live(",profile_bytes=16K")
        # 4096 samples or so: the deviation is a sixtieth at most.
        self.assertAlmostEqual(sums["keep_here"], 64 * MIB, delta=4 * MIB)
        self.assertNotIn("drop_here", sums)
        self.assertIn("outer_function", callers["keep_here"])

    def test_the_usual_rate(self):
        sums, _ = self.live("")
        self.assertAlmostEqual(sums["keep_here"], 64 * MIB, delta=40 * MIB)

    def test_pprof(self):
        fields = decode(self.profile("profile.pb", PROFILED, "keep", words=",profile_bytes=16K"))
        strings = [value.decode() for number, value in fields if number == 6]
        names = {}
        for function in (dict(decode(value)) for number, value in fields if number == 5):
            names[function[1]] = strings[function[2]]
        sums = {}
        for sample in (dict(decode(value)) for number, value in fields if number == 2):
            top = names[numbers(sample[1])[0]]
            sums[top] = [a + b for a, b in zip(sums.get(top, [0] * 4), numbers(sample[2]))]
        objects, space, all_objects, all_space = sums["keep_here"]
        self.assertAlmostEqual(space, 64 * MIB, delta=4 * MIB)
        self.assertAlmostEqual(objects, 32 * MIB / 64, delta=64 * 1024)
        self.assertEqual((objects, space), (all_objects, all_space))
        dropped = sums["drop_here"]
        self.assertEqual(dropped[:2], [0, 0])
        self.assertAlmostEqual(dropped[3], 82 * MIB, delta=6 * MIB)

    def test_a_recording(self):
        recording = self.profile("profile.ouro", PROFILED, "keep")
        self.assertGreater(len(recording), 4096)
        self.assertIn(os.path.basename(PROFILED).encode(), recording)

    def test_a_program_may_have_children(self):
        with tempfile.TemporaryDirectory() as folder:
            script = f"{PROFILED} keep; {PROFILED} keep; true"
            result = start("sh", "-c", script, words=f"profile={folder}/%p.folded")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            # And the shell's, unless it leaves without a look back.
            self.assertIn(len([name for name in os.listdir(folder) if re.fullmatch(r"\d+\.folded", name)]), (2, 3))

    def test_what_cannot_be_written_is_said(self):
        result = start(PROFILED, "keep", words="profile=/nowhere/at/all")
        self.assertEqual(result.returncode, 0)
        self.assertIn("cannot write the profile to /nowhere/at/all: not_found", result.stderr)

    def test_what_cannot_be_written_is_said_before_the_program_does_anything(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in ("/nowhere/at/all", "/nowhere/at/all.pb", folder, "/dev/null"):
                with self.subTest(path):
                    result = start("sh", "-c", "echo begun >&2; kill -KILL $$", words=f"profile={path}")
                    first, *rest = result.stderr.splitlines()
                    self.assertRegex(first, f"cannot write the profile to {path}: (not_found|bad_argument)")
                    self.assertEqual(rest, ["begun"])
            # What can be is not, by that look alone.
            for name in ("one.ouro", "one.pb", "one.folded"):
                result = start("sh", "-c", "kill -KILL $$", words=f"profile={folder}/{name}")
                self.assertEqual(result.stderr, "")
            self.assertEqual(os.listdir(folder), [])


class Late(unittest.TestCase):
    """A profile that begins while the program runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start_parts(self, words):
        environment = dict(os.environ, LD_PRELOAD=LIBRARY, OUROBOROS_MALLOC=words)
        program = subprocess.Popen([PROFILED, "parts"], env=environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program

    def sites(self, program, order):
        """The bytes of each function that calls malloc, by this figure of the report on the running program."""
        result = subprocess.run([OURO, "report", str(program.pid), "--json", "--top", "1000"], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        sums = {}
        for site in json.loads(result.stdout)["profile"]["sites"]:
            names = [frame.get("function", "") for frame in site["stack"]]
            name = next((name for name in names if name.startswith("keep_")), "other")
            sums[name] = sums.get(name, 0) + order(site)
        return sums

    def test_begins_with_a_signal_in_threads_that_run_already(self):
        path = os.path.join(self.folder, "late.folded")
        program = self.start_parts(f"profile={path},profile_bytes=16K,profile_signal=USR2")
        self.assertEqual(program.stdout.readline(), "early\n")
        program.send_signal(signal.SIGUSR2)
        program.stdin.write("\n\n\n")
        _, errors = program.communicate(timeout=200)
        self.assertEqual((program.returncode, errors), (0, ""))
        sums = {}
        with open(path) as file:
            for line in file:
                stack, count = line.rsplit(" ", 1)
                sums[stack.split(";")[-1]] = sums.get(stack.split(";")[-1], 0) + int(count)
        self.assertNotIn("keep_early", sums)
        # 2048 samples each: the deviation is a forty-fifth. Half of it would be there without the other thread.
        for name in ("keep_here", "keep_last"):
            self.assertAlmostEqual(sums[name], 32 * MIB, delta=4 * MIB)

    def test_each_further_signal_begins_growth_anew(self):
        program = self.start_parts("profile_bytes=16K,profile_signal=USR1")
        for word in ("early", "kept"):
            self.assertEqual(program.stdout.readline(), word + "\n")
            program.send_signal(signal.SIGUSR1)
            program.stdin.write("\n")
            program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "last\n")
        live = self.sites(program, lambda site: site["live"]["bytes"])
        growth = self.sites(program, lambda site: site["growth_bytes"])
        program.communicate("\n", timeout=200)
        self.assertEqual(program.returncode, 0)
        self.assertNotIn("keep_early", live)
        for name in ("keep_here", "keep_last"):
            self.assertAlmostEqual(live[name], 32 * MIB, delta=4 * MIB)
        self.assertEqual(growth["keep_here"], 0)
        self.assertEqual(growth["keep_last"], live["keep_last"])

    def test_the_blocks_of_the_report_are_what_the_heap_has(self):
        program = self.start_parts("profile_bytes=16K,profile_signal=USR1")
        for word in ("early", "kept"):
            self.assertEqual(program.stdout.readline(), word + "\n")
            program.send_signal(signal.SIGUSR1)
            program.stdin.write("\n")
            program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "last\n")
        result = subprocess.run([OURO, "report", str(program.pid), "--json"], text=True, stdout=subprocess.PIPE,
                                check=True, timeout=200)
        program.communicate("\n", timeout=200)
        blocks = json.loads(result.stdout)["blocks"]
        by_name = {block["name"]: block for block in blocks["list"]}
        heap, sampled = by_name["malloc"], by_name["malloc, sampled blocks"]
        # The program keeps three times 32 MiB, of which a part is sampled.
        self.assertGreaterEqual(heap["high_water_bytes"] + sampled["high_water_bytes"], 96 * MIB)
        for block in (heap, sampled):
            self.assertLessEqual(block["high_water_bytes"], block["committed_bytes"])
            self.assertLessEqual(block["committed_bytes"], block["reserved_bytes"])
        self.assertGreater(sampled["high_water_bytes"], 0)
        self.assertEqual(blocks["committed_bytes"], heap["committed_bytes"] + sampled["committed_bytes"])

    def test_without_a_signal_there_is_nothing(self):
        program = self.start_parts(f"profile={self.folder}/never.folded,profile_bytes=16K,profile_signal=USR2")
        _, errors = program.communicate("\n\n\n", timeout=200)
        self.assertEqual((program.returncode, errors), (0, ""))
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_report_says_that_it_waits(self):
        program = self.start_parts("profile_signal=USR2")
        self.assertEqual(program.stdout.readline(), "early\n")

        def report(*words):
            return subprocess.run([OURO, "report", str(program.pid), *words], text=True, stdout=subprocess.PIPE,
                                  check=True, timeout=200).stdout
        self.assertIn(f"it begins with the signal USR2, as by `kill -USR2 {program.pid}`", report())
        self.assertEqual(json.loads(report("--json"))["profile_awaits_signal"], "USR2")
        program.send_signal(signal.SIGUSR2)
        program.stdin.write("\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "kept\n")
        self.assertNotIn("it begins with the signal", report())
        self.assertIsNone(json.loads(report("--json"))["profile_awaits_signal"])
        program.communicate("\n\n", timeout=200)

    def test_signals_at_any_time_harm_nothing(self):
        for words in ("profile_bytes=100,profile_signal=USR1", "profile_bytes=100,profile_signal=USR1,guard=50"):
            with self.subTest(words):
                result = start(PROFILED, "signals", words=words)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "intact\n", ""))


class Right(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.word = f"profile={folder.name}/%p"

    def test_the_family_behaves_as_ever(self):
        # Copying the process again and again with every block sampled takes long; less often shows the same.
        for more, tests in ((",profile_bytes=1", "-MallocFork.*"), (",profile_bytes=20K,guard=50", "*")):
            with self.subTest(more):
                result = start(FAMILY, "--gtest_filter=" + tests, words=self.word + more)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_blocks_stay_intact_with_threads_and_copies_of_the_process(self):
        for more in (",profile_bytes=100", ",profile_bytes=5K,guard=50"):
            with self.subTest(more):
                result = start(PROFILED, "fine", words=self.word + more)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "intact\n", ""))

    def test_thread_churn(self):
        result = start(CHURN, "1000", words=self.word + ",profile_bytes=1K")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_sampled_blocks_are_counted(self):
        result = start(PROFILED, "keep", words=self.word + ",profile_bytes=16K,stats=json")
        report = json.loads(result.stderr)["libouroboros-malloc"]
        self.assertGreater(report["profiled_blocks"], 1000)
        self.assertGreater(report["profiled_allocations"], report["profiled_blocks"])
        self.assertGreaterEqual(report["live_bytes"], 64 * MIB)


if __name__ == "__main__":
    unittest.main()
