"""Usage: streams_test.py <ouro> <sample program>: `ouro streams` on programs that run, have ended, or are not ours."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from stopped_program import StoppedProgram

OURO = os.path.realpath(sys.argv.pop(1))
SAMPLE = os.path.realpath(sys.argv.pop(1))


def streams(*arguments):
    return subprocess.run([OURO, "streams", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, encoding="utf-8", timeout=120)


class Sample(StoppedProgram):
    """The sample program in the middle of its work, and what it says of its own blocks."""

    def __init__(self, *arguments):
        super().__init__(SAMPLE, *arguments)
        self.own = json.loads(self.process.stdout.readline())
        self.await_ready()


class Streams(unittest.TestCase):
    def assert_refused(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("ouro streams: "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def assert_sample(self, told, sample):
        (table,) = told["tables"]
        self.assertEqual(told["process_id"], sample.number)
        self.assertEqual(table["unlisted"], 0)
        self.assertEqual(table["blocks"], sample.own["blocks"])
        names = [block["name"] for block in table["blocks"]]
        self.assertEqual(names.count("sample frames"), 2)
        by_name = {block["name"]: block for block in table["blocks"]}
        assets = by_name["sample assets"]
        self.assertEqual(assets["tag"], "sample-scenery")
        self.assertEqual(assets["cursor_bytes"], 123456)
        self.assertEqual(assets["within"], names.index("other world"))
        self.assertEqual(by_name["sample frames"]["within"], names.index("sample world"))
        for part in ("sample state", "sample state: history"):
            self.assertEqual(by_name[part]["within"], names.index("sample world"))
            self.assertLess(by_name[part]["cursor_bytes"], by_name[part]["committed_bytes"])
        # Its header, and the three pages that the sample wrote.
        self.assertEqual(by_name["sample state"]["cursor_bytes"], 4 * 4096)
        self.assertGreater(by_name["sample state: history"]["cursor_bytes"], 4 * 4096)
        self.assertIsNone(by_name["sample scratch"]["within"])
        self.assertGreaterEqual(by_name["sample world"]["reserved_bytes"], 16 << 30)

    def test_a_running_program(self):
        with Sample() as sample:
            text = streams(sample.number)
            self.assertEqual(text.returncode, 0, text.stderr)
            for words in (f"process {sample.number}", "sample world", "\n    sample frames", "\n    sample assets",
                          "\n    sample state", "\n    sample state: history",
                          "sample-scenery", "120.6 KiB", "8 MiB", "in all"):
                self.assertIn(words, text.stdout)
            told = json.loads(streams(sample.number, "--json").stdout)
            self.assertTrue(told["is_live"])
            self.assertEqual(told["tables"][0]["module"], SAMPLE)
            self.assert_sample(told, sample)

    def test_a_recording_of_a_program_that_has_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sample.ouro")
            with Sample(path) as sample:
                pass
            told = json.loads(streams(path, "--json").stdout)
            self.assertFalse(told["is_live"])
            self.assert_sample(told, sample)
            self.assertIn("recorded", streams(path).stdout)
            with open(path, "rb") as file:
                whole = file.read()
            with open(path, "wb") as file:
                file.write(whole[:-100])
            self.assert_refused(streams(path), 1, "is damaged", "Record it again")

    def test_without_a_target_it_says_what_to_give(self):
        self.assert_refused(streams(), 2, "number of a running process", "ouro::save_recording(path)",
                            "ouro streams <number or file>", "write_blocks_text")
        self.assert_refused(streams("--json"), 2, "number of a running process")

    def test_what_has_no_blocks(self):
        with subprocess.Popen(["sleep", "100"]) as other:
            result = streams(other.pid)
            other.terminate()
        self.assert_refused(result, 1, "lists no blocks", "ouroboros::streams")
        with Sample() as sample:
            number = sample.number
        self.assert_refused(streams(number), 1, f"there is no process {number}")
        self.assert_refused(streams("no-such-file"), 1, "cannot open 'no-such-file'", "save_recording")


if __name__ == "__main__":
    unittest.main()
