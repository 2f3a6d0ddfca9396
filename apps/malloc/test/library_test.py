"""Usage: library_test.py <library> <churn> <probe> <replaced operators>

The library preloaded into small programs: its settings and reports, memory that goes back, limits, and threads.
"""

import json
import os
import resource
import subprocess
import sys
import unittest

LIBRARY, CHURN, PROBE, REPLACED = (os.path.realpath(sys.argv.pop(1)) for _ in range(4))
MIB = 1 << 20


def start(*command, words="", limits=()):
    def limit():
        for what, value in limits:
            resource.setrlimit(what, (value, value))

    environment = dict(os.environ, LD_PRELOAD=LIBRARY, OUROBOROS_MALLOC=words)
    return subprocess.run(command, env=environment, preexec_fn=limit if limits else None, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)


class Settings(unittest.TestCase):
    def test_help_lists_every_word(self):
        result = start(PROBE, "abandon", words="help")
        self.assertEqual(result.returncode, 0)
        for word in ("help", "stats", "stats_signal=", "purge=", "idle=", "background=", "guard=", "guard_slots=",
                     "profile=", "profile_bytes=", "profile_signal="):
            self.assertIn("\n  " + word, result.stderr)

    def test_help_is_not_repeated_by_children(self):
        result = start("sh", "-c", '"$0" abandon; "$0" abandon; echo "$OUROBOROS_MALLOC"', PROBE, words="help,idle=50")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("words separated by commas"), 1)
        self.assertEqual(result.stdout.strip("\n,"), "idle=50")

    def test_an_unknown_word_is_named_and_the_program_runs(self):
        result = start(PROBE, "abandon", words="nonsense")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, "OUROBOROS_MALLOC: cannot understand 'nonsense'; OUROBOROS_MALLOC=help lists "
                                        "the words\n")

    def test_without_words_it_says_nothing(self):
        self.assertEqual(start(PROBE, "abandon").stderr, "")


class Reports(unittest.TestCase):
    def test_at_the_end_for_people(self):
        text = start(PROBE, "abandon", words="stats").stderr
        self.assertRegex(text, r"\Alibouroboros-malloc:\n")
        self.assertRegex(text, r"\n  heap_reserved_bytes +\d+ +\d+\.\d [GM]iB\n")
        self.assertRegex(text, rf"\n  process +\d+\n  program +{os.path.basename(PROBE)}\n\Z")

    def test_at_the_end_for_programs(self):
        report = json.loads(start(PROBE, "abandon", words="stats=json").stderr)["libouroboros-malloc"]
        # Ten blocks of a thousand bytes were never freed.
        self.assertGreaterEqual(report["live_blocks"], 10)
        self.assertGreaterEqual(report["live_bytes"], 10_000)
        self.assertGreaterEqual(report["allocations"], report["live_blocks"])
        self.assertEqual(report["thread_heaps"], 1)
        self.assertEqual(report["failures"], 0)
        self.assertEqual(report["program"], os.path.basename(PROBE))

    def test_any_name_of_the_program_can_be_read(self):
        name = 'a "name"\n' + 200 * "x"
        environment = dict(os.environ, LD_PRELOAD=LIBRARY, OUROBOROS_MALLOC="stats=json")
        result = subprocess.run([name, "abandon"], executable=PROBE, env=environment, stderr=subprocess.PIPE, text=True,
                                timeout=120)
        report = json.loads(result.stderr)["libouroboros-malloc"]
        self.assertEqual(report["program"], "a ?name??" + 55 * "x")

    def test_on_a_signal(self):
        result = start(PROBE, "signal", words="stats_signal=USR2")
        self.assertEqual(result.returncode, 0)
        self.assertIn("live_blocks", result.stderr)

    def test_the_signal_is_the_programs_own_otherwise(self):
        self.assertLess(start(PROBE, "signal").returncode, 0)


class IdleMemory(unittest.TestCase):
    """The probe fills 20 MiB, frees them and stays for two seconds; it prints the resident bytes after each."""

    def measure(self, what, words):
        result = start(PROBE, what, words=words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [int(number) for number in result.stdout.split()]

    def test_goes_when_somebody_comes_by(self):
        full, freed, later = self.measure("visited", "idle=100")
        self.assertGreater(freed, full - 4 * MIB)
        # A thread keeps some of its empty slabs for itself.
        self.assertLess(later, full - 8 * MIB)

    def test_stays_when_told_so(self):
        full, _, later = self.measure("visited", "idle=0")
        self.assertGreater(later, full - 4 * MIB)

    def test_stays_while_the_program_sleeps(self):
        full, _, later = self.measure("asleep", "idle=100")
        self.assertGreater(later, full - 4 * MIB)

    def test_goes_in_the_background_while_the_program_sleeps(self):
        full, freed, later = self.measure("asleep", "idle=100,background=1")
        self.assertGreater(freed, full - 4 * MIB)
        self.assertLess(later, full - 15 * MIB)

    def test_goes_at_once_when_nothing_may_be_kept(self):
        full, freed, _ = self.measure("asleep", "purge=0")
        # As much as is in use may always stay.
        self.assertLess(freed, full - 5 * MIB)

    def test_makes_room_for_a_mapping(self):
        numbers = self.measure("mapping", "")
        for full, freed, later in (numbers[:3], numbers[3:]):
            self.assertGreater(freed, full - 4 * MIB)
            # A thread keeps some of its empty slabs for itself.
            self.assertLess(later, full - 8 * MIB)

    def test_trimming_reaches_the_cache_of_a_thread_that_sleeps(self):
        kept, after, resident = self.measure("trim", "")
        self.assertGreater(kept, MIB)
        self.assertLess(after, kept / 10)
        self.assertEqual(resident, 0)


class Limits(unittest.TestCase):
    def assert_exhausted_and_well(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 6, result.stdout)

    def test_of_addresses(self):
        for kib in (200_000, 60_000, 24_000):
            with self.subTest(kib):
                self.assert_exhausted_and_well(start(PROBE, "exhaust", limits=[(resource.RLIMIT_AS, kib << 10)]))

    def test_of_memory(self):
        self.assert_exhausted_and_well(start(PROBE, "exhaust", limits=[(resource.RLIMIT_DATA, 100 * MIB)]))

    def test_what_an_idle_thread_keeps_is_there_before_others_are_refused(self):
        result = start(PROBE, "kept", limits=[(resource.RLIMIT_AS, 200_000 << 10)])
        first, second = (int(count) for count in result.stdout.split())
        self.assertGreater(first, 20_000, result.stderr)
        self.assertGreater(second, first - 500, "kept by a thread that sleeps")

    def test_a_large_part_of_few_addresses_can_be_had_as_one_block(self):
        code = "print(len(bytearray(70 << 20)))"
        result = start(sys.executable, "-c", code, limits=[(resource.RLIMIT_AS, 200_000 << 10)])
        self.assertEqual(result.stdout, f"{70 << 20}\n", result.stderr)


class Programs(unittest.TestCase):
    def test_replaced_operators_are_called_by_the_others(self):
        self.assertEqual(start(REPLACED).stdout, "all replaced\n")

    def test_thousands_of_threads_and_copies_of_the_process(self):
        for words in ("", "idle=10,background=1,purge=1M"):
            with self.subTest(words):
                result = start(CHURN, "2000", words=words)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                verdict, before, after = result.stdout.split()
                self.assertEqual(verdict, "intact")
                self.assertLess(int(after), 2 * int(before), "pages resident after the first half and the second")

    def test_a_library_that_is_loaded_and_unloaded(self):
        code = "import ctypes, sys\nfor _ in range(50):\n h = ctypes.CDLL(sys.argv[1])\n print(h._handle != 0)\n"
        result = start(sys.executable, "-c", code, LIBRARY)
        self.assertEqual(result.stdout, "True\n" * 50, result.stderr)


if __name__ == "__main__":
    unittest.main()
