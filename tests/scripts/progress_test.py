"""Usage: progress_test.py <root>: what tools/progress.sh shows while something runs, waits or is interrupted."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.realpath(sys.argv.pop(1))
PROGRESS = os.path.join(ROOT, "tools", "progress.sh")
# Busy twice, then free; so that nobody has to wait in a test.
FAKE_FLOCK = """#!/bin/sh
echo "$@" >>"$CALLS"
[ "$(wc -l <"$CALLS")" -gt 2 ]
"""

# Says that it runs, and dies of Ctrl-C from then on. Not a shell's: some lose a signal that comes while they start a
# command.
ENDLESS = """import signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
open(sys.argv[1], "w").close()
time.sleep(1000)
"""


def start(script, *arguments, environment=None):
    # A test that was started in the background would hand on an ignored Ctrl-C.
    return subprocess.Popen(["bash", "-euo", "pipefail", "-c", f'. "{PROGRESS}"\n{script}', "script", *arguments],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=environment, start_new_session=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


class Progress(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def finish(self, process, code):
        text = process.communicate(timeout=600)[0]
        self.assertEqual(process.returncode, code, text)
        return text

    def shown(self, line):
        return self.finish(start('progress_text "$1"', line), 0)

    def test_the_steps_of_a_build_are_counted_and_the_file_is_kept(self):
        self.assertEqual(self.shown("[17/21] Building CXX object modules/a.cpp.o"), "17 of 21 done: modules/a.cpp.o")
        text = self.shown("[1/2] Building CXX object " + "folder/" * 20 + "file.cpp.o")
        self.assertTrue(text.startswith("1 of 2 done: ...") and text.endswith("/file.cpp.o"), text)
        self.assertLess(len(text), 80)

    def test_other_lines_end_with_a_whole_word(self):
        self.assertEqual(self.shown("Reading lists"), "Reading lists")
        self.assertEqual(self.shown("word " * 30), "word " * 13 + "...")

    def test_a_failure_shows_the_end_of_the_log(self):
        text = self.finish(start('progress_step "$1" "label" sh -c "echo the reason; exit 3"', self.path("log")), 3)
        self.assertIn("label: FAILED (exit code 3)", text)
        self.assertIn("the reason", text)

    def test_waiting_for_a_lock_is_told_again_and_again(self):
        os.mkdir(self.path("bin"))
        with open(self.path("bin/flock"), "w", encoding="utf-8") as file:
            file.write(FAKE_FLOCK)
        os.chmod(self.path("bin/flock"), 0o755)
        environment = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"], CALLS=self.path("calls"))
        lines = self.finish(start('lock_or_wait "$1" "A build"', self.path("lock"), environment=environment),
                            0).splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertIn("A build is under way in another process", lines[0])
        self.assertRegex(lines[1], r"A build is still under way .* waited \d+ s")
        for line in lines:
            self.assertIn("Ctrl-C is safe", line)

    def test_an_interruption_ends_with_a_line_that_says_so(self):
        process = start('tell_interruptions\nprogress_step "$1" "label" "$2" -c "$3" "$4"', self.path("log"),
                        sys.executable, ENDLESS, self.path("running"))
        while not os.path.exists(self.path("running")) and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        text = self.finish(process, 130)
        self.assertTrue(text.endswith("\nlabel: interrupted\n"), text)


if __name__ == "__main__":
    unittest.main()
