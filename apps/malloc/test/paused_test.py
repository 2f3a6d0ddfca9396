"""Usage: paused_test.py <library> <paused>

No thread waits for another in malloc: one is stopped at random points of its work while the others go on with its
blocks, and a call of futex ends the program. The test of the heaps has the same with locks, which are found.
"""

import os
import signal
import subprocess
import sys
import unittest

LIBRARY, PAUSED = (os.path.realpath(sys.argv.pop(1)) for _ in range(2))


class PausedThread(unittest.TestCase):
    def assert_everyone_goes_on(self, words, *what):
        environment = dict(os.environ, LD_PRELOAD=LIBRARY, OUROBOROS_MALLOC=words)
        with self.subTest(words=words, what=what):
            result = subprocess.run([PAUSED, *what], env=environment, stderr=subprocess.PIPE, text=True, timeout=250)
            self.assertNotEqual(result.returncode, -signal.SIGSYS, "futex was called")
            self.assertEqual(result.returncode, 0, "5: the others stood still\n" + result.stderr)

    def test_with_small_blocks(self):
        self.assert_everyone_goes_on("", "small")

    def test_with_units_and_mappings(self):
        self.assert_everyone_goes_on("", "large")

    def test_while_memory_goes_back_all_the_time(self):
        self.assert_everyone_goes_on("purge=0,idle=1", "small")
        self.assert_everyone_goes_on("purge=0,idle=1", "large")

    def test_with_guarded_blocks(self):
        self.assert_everyone_goes_on("guard=50", "small")

    def test_beside_the_background_thread_which_is_woken_by_a_call(self):
        self.assert_everyone_goes_on("idle=1,background=1", "small", "wake")


if __name__ == "__main__":
    unittest.main()
