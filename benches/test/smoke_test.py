"""Usage: smoke_test.py <ouro-bench>: every suite runs, and its JSON has the promised shape. Nothing about speed."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.realpath(sys.argv.pop(1))
MACHINE_KEYS = {"cpu": str, "cores": int, "memory_bytes": int, "kernel": str, "compiler": str, "build_type": str,
                "page_bytes": int, "transparent_huge_pages": str, "date": str}
ROW_KEYS = ("suite", "case", "unit", "ours", "peer", "peer_version", "peer_value", "ratio", "bar", "met")


def call(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


class Smoke(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check_row(self, row):
        for key in ROW_KEYS:
            self.assertIn(key, row)
        for key in ("suite", "case", "unit"):
            self.assertTrue(row[key])
        self.assertEqual(row["met"], "unknown", "a quick run judges nothing")
        if row["ours"] is None:
            self.assertIn("not measured", row["note"])
        elif row["unit"] == "MiB":  # of memory that a good case does not use
            self.assertGreaterEqual(row["ours"], 0)
        else:
            self.assertGreater(row["ours"], 0)
        if row["ours"] is not None and row["peer_value"]:
            self.assertAlmostEqual(row["ratio"], row["ours"] / row["peer_value"])
            self.assertTrue(row["peer_version"])
        else:
            self.assertIsNone(row["ratio"])

    def test_every_suite_gives_rows_of_the_promised_shape(self):
        listed = call("--list")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        suites = {line.split()[0] for line in listed.stdout.splitlines()}
        self.assertLessEqual({"base", "memory", "os"}, suites)

        file = os.path.join(self.folder, "results.json")
        run = call("--quick", "--json", file)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        with open(file, encoding="utf-8") as results:
            machine, *rows = json.load(results)
        for key, kind in MACHINE_KEYS.items():
            self.assertIsInstance(machine[key], kind, key)
        self.assertIs(machine["quick"], True)
        self.assertEqual({row["suite"] for row in rows}, suites)
        for row in rows:
            with self.subTest(row["case"]):
                self.check_row(row)
        # Counted, not timed, so that also a quick run can tell.
        for row in rows:
            is_optimised = machine["compiler"].startswith("g++") and machine["build_type"] != "Debug"
            if is_optimised and row["case"] == "instructions: compiled out" and row["ours"] is not None:
                self.assertEqual(row["ours"], row["peer_value"])
        # What observing adds is small beside what a round differs from the next.
        for row in rows:
            if row["suite"] == "observe" and row["unit"] != "instr" and row["ours"] is not None:
                self.assertTrue(row["statistic"].startswith("median of"), row)
        names = [(row["suite"], row["case"], row["peer"]) for row in rows]
        self.assertEqual(len(names), len(set(names)), "two rows have the same name")
        for line in run.stdout.splitlines():
            self.assertLessEqual(len(line), 120, line)

    @unittest.skipUnless(shutil.which("nm"), "needs nm")
    def test_loops_that_are_compared_begin_a_cache_line(self):
        symbols = subprocess.run(["nm", "-C", PROGRAM], stdout=subprocess.PIPE, text=True, check=True).stdout
        # The work of the rows that compare a charged heap with the heap alone, without what never runs.
        places = [int(line.split()[0], 16) for line in symbols.splitlines()
                  if "run_batch<" in line and ".cold" not in line]
        self.assertTrue(places)
        self.assertEqual([hex(place) for place in places if place % 64], [])

    def test_mistakes_are_refused_with_advice(self):
        for arguments, advice in ((("no-such-suite",), "choose from: "), (("--rounds", "0"), "--rounds"),
                                  (("--peers", os.path.join(self.folder, "nowhere")), "--peers"),
                                  (("--no-such-option",), "--help")):
            with self.subTest(arguments):
                result = call(*arguments)
                self.assertEqual(result.returncode, 2, result.stdout)
                self.assertIn(advice, result.stderr)
        result = call("base", "--json", os.path.join(self.folder, "nowhere", "results.json"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("give --json a file", result.stderr)


if __name__ == "__main__":
    unittest.main()
