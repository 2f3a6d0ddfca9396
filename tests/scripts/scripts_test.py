"""Usage: scripts_test.py <root>: the commands explain themselves from anywhere and refuse what they do not know."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.realpath(sys.argv.pop(1))
COMMANDS = ("run", "test", "bench", "tools/setup", "tools/build", "tools/fresh-check", "tools/style-check")


def call(folder, command, *arguments, environment=None):
    return subprocess.run([os.path.join(ROOT, command), *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.elsewhere = folder.name

    def test_help_works_from_another_folder(self):
        for command in COMMANDS:
            with self.subTest(command):
                result = call(self.elsewhere, command, "--help")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("usage:", result.stdout)

    def test_help_works_through_a_link(self):
        link = os.path.join(self.elsewhere, "start")
        os.symlink(os.path.join(ROOT, "run"), link)
        result = subprocess.run([link, "--help"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 0)
        self.assertIn("usage:", result.stdout)

    def test_sh_is_enough_to_start_them(self):
        for command in ("run", "test", "bench", "tools/setup", "tools/build"):
            with self.subTest(command):
                result = subprocess.run(["sh", os.path.join(ROOT, command), "--help"], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
                self.assertEqual(result.returncode, 0, result.stdout)
                self.assertIn("usage:", result.stdout)

    def test_a_tree_that_cannot_be_written_is_told_in_one_sentence(self):
        os.mkdir(os.path.join(self.elsewhere, "tools"))
        for name in ("run", "test", "bench", "tools/build", "tools/setup", "tools/progress.sh"):
            shutil.copy(os.path.join(ROOT, name), os.path.join(self.elsewhere, name))
        # Stops root too, whom no permission stops.
        open(os.path.join(self.elsewhere, "build"), "w", encoding="utf-8").close()
        for command in (["run"], ["test"], ["bench"], ["tools/build", "release"]):
            with self.subTest(command):
                result = subprocess.run([os.path.join(self.elsewhere, command[0]), *command[1:]],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.assertEqual(result.returncode, 1, result.stdout)
                self.assertRegex(result.stdout, r"\Acannot write to .*/build: clone into a folder of your own.*\n\Z")

    def test_help_is_a_command_too(self):
        self.assertEqual(call(self.elsewhere, "run", "help").stdout, call(self.elsewhere, "run", "--help").stdout)

    def test_a_program_that_is_not_there_is_named(self):
        result = call(self.elsewhere, "run", "malloc", "no-such-program")
        self.assertEqual(result.returncode, 127)
        self.assertRegex(result.stderr, r"\A\./run: there is no program 'no-such-program' here.*\n\Z")

    def test_unknown_options_are_refused(self):
        for command in COMMANDS:
            with self.subTest(command):
                result = call(self.elsewhere, command, "--no-such-option")
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertIn("usage:" if command in ("tools/build", "tools/style-check") else "--no-such-option",
                              result.stderr)

    def test_contradictions_are_refused(self):
        for arguments in (("--quick", "--long"), ("one", "two"), ("",)):
            with self.subTest(arguments):
                self.assertEqual(call(self.elsewhere, "test", *arguments).returncode, 2)
        self.assertEqual(call(self.elsewhere, "bench", "--json").returncode, 2)

    def test_setup_says_when_nothing_is_missing(self):
        result = call(self.elsewhere, "tools/setup", "quick")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "setup: nothing is missing for 'quick'\n")

    def test_setup_names_the_packages_where_there_is_no_apt(self):
        # A PATH with the few commands that the script itself uses, and neither dpkg nor a compiler.
        path = os.path.join(self.elsewhere, "bin")
        os.mkdir(path)
        for name in ("bash", "env", "cat", "awk", "mkdir", "flock", "dirname", "readlink", "id"):
            target = subprocess.run(["sh", "-c", f"command -v {name}"], stdout=subprocess.PIPE, text=True, check=True)
            os.symlink(target.stdout.strip(), os.path.join(path, name))
        result = call(self.elsewhere, "tools/setup", "run", environment={"PATH": path})
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("no apt-get", result.stderr)
        self.assertIn("g++ cmake ninja-build", result.stderr)


if __name__ == "__main__":
    unittest.main()
