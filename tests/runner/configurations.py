"""Builds one configuration and runs its tests."""

import os
import re
import subprocess
import sys
import time

from results import Tally, read_junit

_PROGRESS = re.compile(r"^\s*(\d+)/(\d+) Test\s+#\d+: (\S+)")
_TOTAL = re.compile(r"^Total Tests: (\d+)", re.MULTILINE)


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line now and then."""

    def __init__(self, label):
        self._label = label
        self._terminal = sys.stdout.isatty()
        self._interval_s = 0.1 if self._terminal else 20
        self._last = -self._interval_s  # the first text is shown at once

    def show(self, text):
        now = time.monotonic()
        if now - self._last < self._interval_s:
            return
        self._last = now
        if self._terminal:
            print(f"\r\033[K{self._label} {text}"[:110], end="", flush=True)
        else:
            print(f"{self._label} {text}", flush=True)

    def clear(self):
        if self._terminal:
            print("\r\033[K", end="", flush=True)


class Configuration:
    def __init__(self, root, preset, filter_text, long_campaigns):
        self._root = root
        self._preset = preset
        self._filter = filter_text
        self._long = long_campaigns
        self._logs = os.path.join(root, "build", "logs")

    def build(self):
        # Its errors go where the summary goes, so that whoever redirects one has both.
        return subprocess.run([os.path.join(self._root, "tools", "build"), self._preset],
                              stderr=subprocess.STDOUT).returncode == 0

    def _ctest_command(self, *options):
        command = ["ctest", "--test-dir", os.path.join(self._root, "build", self._preset), "--no-tests=ignore"]
        return command + list(options) + (["-R", self._filter] if self._filter else [])

    def _run_command(self, junit):
        return self._ctest_command("-j", str(os.cpu_count() or 1), "--output-junit", junit, "--test-output-size-passed",
                                   "65536", "--test-output-size-failed", "262144")

    def _count_tests(self):
        """How many tests there will be, or "?" when ctest does not tell; the run itself then says why."""
        listed = subprocess.run(self._ctest_command("-N"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                errors="replace")
        total = _TOTAL.search(listed.stdout)
        return total.group(1) if total else "?"

    def _environment(self):
        environment = dict(os.environ)
        environment.pop("OURO_TEST_LONG", None)
        if self._long:
            environment["OURO_TEST_LONG"] = "1"
        return environment

    def run_tests(self, is_missing):
        """Runs ctest with its output in a log; returns the tally."""
        os.makedirs(self._logs, exist_ok=True)
        junit = os.path.join(self._logs, f"{self._preset}.junit.xml")
        if os.path.exists(junit):
            os.remove(junit)
        progress = Progress(f"{self._preset}: testing")
        progress.show(f"0/{self._count_tests()}")
        log_path = os.path.join(self._logs, f"{self._preset}.test.log")
        with open(log_path, "w", encoding="utf-8") as log:
            process = subprocess.Popen(self._run_command(junit), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, errors="replace", env=self._environment())
            for line in process.stdout:
                log.write(line)
                found = _PROGRESS.match(line)
                if found:
                    progress.show("{}/{} {}".format(*found.groups()))
            status = process.wait()
        progress.clear()
        return self._judge(read_junit(junit, is_missing), status, log_path)

    def _judge(self, tally, status, log_path):
        if status != 0 and tally.failed == 0:
            tally.fail("ctest", f"ended with code {status} without naming a failed test; see {log_path}")
        nothing = tally.passed + tally.failed + tally.skipped == 0
        if nothing and not self._filter:
            tally.fail("ctest", "this configuration has no tests")
        return tally


def build_failed(preset):
    tally = Tally()
    tally.fail(f"build of {preset}", f"see build/logs/{preset}.configure.log and build/logs/{preset}.build.log")
    return tally
