"""Usage: mistakes_test.py <ouro>: wrong arguments end with code 2 and a message that says what can be typed instead."""

import os
import subprocess
import sys
import unittest

PROGRAM = os.path.realpath(sys.argv.pop(1))


def call(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Mistakes(unittest.TestCase):
    def assert_refused(self, arguments, *words):
        result = call(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        for word in words:
            self.assertIn(word, result.stderr)

    def test_an_unknown_command_is_told_the_known_ones(self):
        self.assert_refused(["nonsense"], "unknown command 'nonsense'", "The commands: doctor", "./run -- --help")

    def test_an_unknown_option_of_the_program(self):
        self.assert_refused(["--nonsense"], "unknown option '--nonsense'", "The commands: doctor", "./run -- --help")

    def test_an_unknown_option_of_a_command(self):
        self.assert_refused(["doctor", "--nonsense"], "'--nonsense'", "ouro doctor --help", "./run doctor --help")

    def test_an_unknown_word_after_a_command(self):
        self.assert_refused(["doctor", "nonsense"], "'nonsense'", "./run doctor --help")

    def test_a_value_for_a_switch(self):
        self.assert_refused(["doctor", "--json=maybe"], "--json", "./run doctor --help")

    def test_a_sorting_that_is_none(self):
        self.assert_refused(["report", "1", "--by", "size"],
                            "'size' is none of live, allocated, temporary, growth, peak", "./run report --help")

    def test_no_command_shows_the_help(self):
        self.assert_refused([], "doctor")

    def test_help_and_version_are_no_mistakes(self):
        for arguments in (["--help"], ["--version"], ["doctor", "--help"]):
            self.assertEqual(call(*arguments).returncode, 0, arguments)


if __name__ == "__main__":
    unittest.main()
