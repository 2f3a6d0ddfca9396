"""Usage: report_test.py <ouro> <sample> <streams sample>: `ouro report` on running, ended and foreign programs."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from stopped_program import StoppedProgram

OURO = os.path.realpath(sys.argv.pop(1))
SAMPLE = os.path.realpath(sys.argv.pop(1))
STREAMS = os.path.realpath(sys.argv.pop(1))
NOBODY = 65534


def report(*arguments, **options):
    return subprocess.run([OURO, "report", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, encoding="utf-8", timeout=120, **options)


class Sample(StoppedProgram):
    """The sample program in the middle of its work."""

    def __init__(self, *arguments):
        super().__init__(SAMPLE, *arguments)
        self.await_ready()


class Report(unittest.TestCase):
    def assert_told(self, result, *words):
        self.assertEqual(result.returncode, 0, result.stderr)
        for word in words:
            self.assertIn(word, result.stdout)

    def assert_refused(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("ouro report: "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_a_running_program(self):
        with Sample() as sample:
            self.assert_told(report(sample.number), f"process {sample.number}", "traffic-creatures", "of its budget",
                             "over the soft budget", "refused: budget_exceeded")
            told = json.loads(report(sample.number, "--json").stdout)
            tags = {tag["name"]: tag for tag in told["tags"]}
            self.assertEqual(tags["traffic-creatures"]["live_bytes"], 45000)
            self.assertEqual(tags["everything"]["live_bytes"], 46500)
            self.assertTrue(told["is_live"])

    def test_a_recording_of_a_program_that_has_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sample.ouro")
            with Sample(path) as sample:
                number = sample.number
            self.assert_told(report(path), f"process {number}", "recorded after", "traffic-sounds")
            self.assert_refused(report(path, "--watch"), "is a recording")
            with open(path, "rb") as file:
                whole = file.read()
            with open(path, "wb") as file:
                file.write(whole[:len(whole) // 2])
            self.assert_refused(report(path), "is damaged", "Record it again")

    def test_watching_prints_again_and_ends_with_the_program(self):
        with Sample() as sample:
            lines = report(sample.number, "--watch", "--count", 3, "--interval", 0.01, "--json").stdout.splitlines()
            self.assertEqual(len(lines), 3)
            self.assertNotIn("allocations_per_second", json.loads(lines[0])["tags"][0])
            self.assertEqual(json.loads(lines[2])["tags"][0]["allocations_per_second"], 0)
            watching = subprocess.Popen([OURO, "report", str(sample.number), "--watch", "--interval", "0.01"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
            self.assertIn("process", watching.stdout.readline())
        out, errors = watching.communicate(timeout=120)
        self.assertEqual(watching.returncode, 0, errors)
        self.assertIn(f"process {sample.number} has ended", errors)
        # Into a pipe, without what a terminal would obey.
        self.assertNotIn("\x1b", out)
        self.assert_refused(report(sample.number, "--watch"), f"there is no process {sample.number}")

    def test_one_tag_and_fewer_lines(self):
        with Sample() as sample:
            result = report(sample.number, "--tag", "traffic-creatures", "--top", 1)
            self.assert_told(result, "traffic-memories", "the latest of")
            self.assertNotIn("traffic-sounds", result.stdout)
            self.assert_refused(report(sample.number, "--tag", "none"), "no tag is called 'none'", "traffic-sounds")

    def test_letters_fit_the_terminal(self):
        with Sample() as sample:
            plain = dict(os.environ, LC_ALL="C")
            self.assertTrue(report(sample.number, env=plain).stdout.isascii())
            rich = dict(os.environ, LC_ALL="C.UTF-8")
            self.assertIn("█", report(sample.number, env=rich).stdout)

    def test_a_program_that_keeps_no_records(self):
        with subprocess.Popen(["sleep", "100"]) as other:
            result = report(other.pid)
            other.terminate()
        self.assert_refused(result, "keeps no records", "ChargedAllocator", "LD_PRELOAD=libouroboros-malloc.so")

    def assert_blocks_of_streams(self, told):
        tags = {tag["tag"]: tag for tag in told["blocks"]["tags"]}
        names = {block["name"]: block for block in told["blocks"]["list"]}
        state = names["sample state"]["committed_bytes"] + names["sample state: history"]["committed_bytes"]
        self.assertGreater(state, 4 << 20)
        self.assertEqual(tags["simulation state"]["committed_bytes"], state)
        self.assertEqual(names["sample assets"]["tag"], "sample-scenery")
        self.assertGreaterEqual(tags["sample-scenery"]["high_water_bytes"], 123456)
        self.assertIn("frame streams", tags)
        self.assertEqual(told["blocks"]["committed_bytes"], sum(tag["committed_bytes"] for tag in tags.values()))
        self.assertGreater(told["blocks"]["committed_bytes"], state)

    def test_a_program_that_charges_nothing_shows_its_blocks(self):
        with StoppedProgram(STREAMS) as sample:
            sample.process.stdout.readline()
            sample.await_ready()
            self.assert_told(report(sample.number), f"process {sample.number}", "keeps no records of what is charged",
                             "simulation state", "sample world", "in blocks that the program lists")
            told = json.loads(report(sample.number, "--json").stdout)
            self.assertFalse(told["has_records"])
            self.assertTrue(told["is_live"])
            self.assertEqual(told["tags"], [])
            self.assert_blocks_of_streams(told)
            one = json.loads(report(sample.number, "--tag", "sample-scenery", "--json").stdout)
            self.assertEqual({block["tag"] for block in one["blocks"]["list"]}, {"sample-scenery"})
            self.assert_refused(report(sample.number, "--tag", "none"), "no tag is called 'none'", "simulation state")

    def test_a_recording_has_the_blocks_too(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sample.ouro")
            with StoppedProgram(STREAMS, path) as sample:
                sample.process.stdout.readline()
                sample.await_ready()
            told = json.loads(report(path, "--json").stdout)
            self.assertTrue(told["has_records"])
            self.assert_blocks_of_streams(told)

    def test_no_such_process_and_one_that_ended(self):
        with Sample() as sample:
            number = sample.number
        self.assert_refused(report(number), f"there is no process {number}")
        ended = subprocess.Popen(["true"])
        try:
            os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
            self.assert_refused(report(ended.pid), "has no memory of its own")
        finally:
            ended.wait()

    def test_a_process_of_another_user(self):
        # Without the right to be another user, the system's first process is somebody else's.
        if os.geteuid() != 0:
            self.assert_refused(report(1), "does not let you look into process 1", "save_recording")
            return
        with tempfile.TemporaryDirectory() as folder, Sample() as sample:
            program = os.path.join(folder, "ouro")
            os.chmod(folder, 0o755)
            with open(OURO, "rb") as source, open(program, "wb") as copy:
                copy.write(source.read())
            os.chmod(program, 0o755)
            result = subprocess.run([program, "report", str(sample.number)], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assert_refused(result, "does not let you look into", "save_recording")


if __name__ == "__main__":
    unittest.main()
