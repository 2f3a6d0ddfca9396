"""Usage: guard_test.py <library> <faulty> <churn> <test of the family>

Guarded blocks in programs that know nothing of them: what is done wrongly is stopped and named, what is done rightly
goes on.
"""

import json
import os
import re
import signal
import subprocess
import sys
import unittest

LIBRARY, FAULTY, CHURN, FAMILY = (os.path.realpath(sys.argv.pop(1)) for _ in range(4))


def start(*command, words="guard=1"):
    environment = dict(os.environ, LD_PRELOAD=LIBRARY, OUROBOROS_MALLOC=words)
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=200)


def sites(report, title):
    """The functions of the program under a title of the report, innermost first."""
    part = re.search(rf"^  {title}:\n((?:    .*\n)*)", report, re.MULTILINE)
    found = part.group(1) if part else ""
    return re.findall(r"^    0x\w+ (\w+)\+0x\w+ \(.*malloc_faulty\+0x\w+\)$", found, re.MULTILINE)


class Wrong(unittest.TestCase):
    def assert_stopped(self, what, name, ended_by, noticed, freed=None):
        with self.subTest(what):
            result = start(FAULTY, what)
            self.assertEqual(result.returncode, ended_by, result.stderr)
            self.assertRegex(result.stderr, rf"\Aouroboros: {name} in 'malloc': ")
            self.assertIn("  block: ", result.stderr)
            self.assertEqual(sites(result.stderr, "noticed at")[:1], [noticed], result.stderr)
            self.assertEqual(sites(result.stderr, "allocated at")[:1], ["allocate_here"], result.stderr)
            self.assertEqual(sites(result.stderr, "freed at")[:1], [freed] if freed else [], result.stderr)

    def test_beside_a_block(self):
        self.assert_stopped("overflow", "overflow", -signal.SIGSEGV, "write_here")
        self.assert_stopped("read_too_far", "overflow", -signal.SIGSEGV, "read_here")
        self.assert_stopped("underflow", "underflow", -signal.SIGSEGV, "write_here")
        self.assert_stopped("overflow_by_a_byte", "overflow", -signal.SIGABRT, "free_here")

    def test_after_the_free(self):
        self.assert_stopped("use_after_free", "use after free", -signal.SIGSEGV, "read_here", "free_here")
        self.assert_stopped("write_after_free", "use after free", -signal.SIGSEGV, "write_here", "free_here")
        self.assert_stopped("use_after_realloc", "use after free", -signal.SIGSEGV, "read_here", "realloc_here")
        self.assert_stopped("in_a_thread", "use after free", -signal.SIGSEGV, "read_here", "free_here")
        self.assert_stopped("in_a_child", "use after free", signal.SIGSEGV, "read_here", "free_here")

    def test_wrong_frees(self):
        self.assert_stopped("double_free", "double free", -signal.SIGABRT, "free_here", "free_here")
        self.assert_stopped("free_inside", "foreign pointer", -signal.SIGABRT, "free_here")

    def test_without_the_setting_nothing_is_said(self):
        for what in ("overflow", "use_after_free"):
            self.assertEqual(start(FAULTY, what, words="").stderr, "")


class HandlersOfTheProgram(unittest.TestCase):
    def test_a_later_one_is_called_after_the_report(self):
        result = start(FAULTY, "with_handler")
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertRegex(result.stderr, r"(?s)\Aouroboros: use after free.*the program's own handler\n\Z")

    def test_one_that_jumps_may_do_so_again_and_again(self):
        result = start(FAULTY, "recover")
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertEqual(result.stderr.count("use after free"), 3)

    def test_a_signal_that_was_sent_ends_the_program(self):
        result = start(FAULTY, "sent")
        self.assertEqual((result.returncode, result.stderr), (-signal.SIGSEGV, ""))


class Right(unittest.TestCase):
    def test_the_family_behaves_as_ever(self):
        # Copying the process again and again with every block guarded takes long; less often shows the same.
        without_forks = "-MallocFork.*"
        for words, tests in (("guard=1", without_forks), ("guard=1,guard_slots=3", without_forks), ("guard=20", "*")):
            with self.subTest(words):
                result = start(FAMILY, "--gtest_filter=" + tests, words=words)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_blocks_stay_intact_with_threads_and_copies_of_the_process(self):
        for words in ("guard=1", "guard=50", "guard=1,guard_slots=16384"):
            with self.subTest(words):
                result = start(FAULTY, "fine", words=words)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "intact\n", ""))

    def test_thread_churn(self):
        result = start(CHURN, "1000", words="guard=50")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stdout.split()[0], "intact")

    def report(self, words):
        result = start(FAULTY, "many", words=words + ",stats=json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stderr)["libouroboros-malloc"]

    def test_about_one_of_so_many_is_guarded_and_counted(self):
        # Of a hundred thousand blocks and some of the C library's.
        rarely = self.report("guard=50")
        self.assertGreater(rarely["guarded_allocations"], 1500)
        self.assertLess(rarely["guarded_allocations"], 2500)
        self.assertGreaterEqual(rarely["allocations"], 100_000)
        always = self.report("guard=1")
        self.assertGreaterEqual(always["guarded_allocations"], 100_000)
        self.assertGreaterEqual(always["live_blocks"], always["guarded_blocks"])
        self.assertEqual(self.report("guard=0")["guarded_allocations"], 0)


if __name__ == "__main__":
    unittest.main()
