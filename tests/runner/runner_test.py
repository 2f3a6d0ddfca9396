"""Usage: runner_test.py <cmake> <ctest>: what ./test counts, from the results of a real ctest run."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from configurations import Configuration  # noqa: E402
from filters import what_is_wrong_with  # noqa: E402
from features import missing_by_list, missing_natively, native_features  # noqa: E402
from results import Tally, read_junit  # noqa: E402

CMAKE, CTEST = sys.argv.pop(1), sys.argv.pop(1)

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(sample LANGUAGES NONE)
enable_testing()
function(sample name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
endfunction()
sample(good sh -c "echo fine")
sample(bad sh -c "echo the words of the failure && exit 1")
sample(not_built ./no_such_program)
sample(lacks sh -c "printf 'a.cpp:7: Skipped\\\\nneeds lacking\\\\n\\\\n[  SKIPPED ]\\\\n'")
sample(cheats sh -c "printf 'a.cpp:7: Skipped\\\\nneeds present\\\\n\\\\n[  SKIPPED ]\\\\n'")
sample(unheard sh -c "printf 'a.cpp:7: Skipped\\\\nneeds unheard_of\\\\n\\\\n[  SKIPPED ]\\\\n'")
sample(switched_off sh -c "echo never run")
set_tests_properties(switched_off PROPERTIES DISABLED ON)
sample(wordless sh -c "printf 'a.cpp:7: Skipped\\\\n\\\\n[  SKIPPED ]\\\\n'")
sample(other sh -c "printf 'a.cpp:7: Skipped\\\\nnot under ThreadSanitizer\\\\n\\\\n[  SKIPPED ]\\\\n'")
"""
FEATURES = {"lacking": False, "present": True}


class CountsOfARealRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        with open(os.path.join(folder.name, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(PROJECT)
        build, junit = os.path.join(folder.name, "build"), os.path.join(folder.name, "results.xml")
        subprocess.run([CMAKE, "-S", folder.name, "-B", build, "-G", "Ninja"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([CTEST, "--test-dir", build, "--output-junit", junit], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        cls.tally = read_junit(junit, missing_natively(FEATURES))
        cls.failures = dict(cls.tally.failures)

    def test_counts(self):
        self.assertEqual(self.tally.last_line(), "1 passed, 7 failed, 1 skipped")

    def test_a_failure_shows_its_output(self):
        self.assertIn("the words of the failure", self.failures["bad"])

    def test_a_program_that_was_not_built_is_a_failure(self):
        self.assertIn("not_built", self.failures)

    def test_a_program_is_missing_when_it_cannot_be_found(self):
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        with tempfile.TemporaryDirectory() as folder:
            os.environ["PATH"] = folder
            self.assertIs(missing_natively(FEATURES)("valgrind"), True)
            with open(os.path.join(folder, "valgrind"), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n")
            os.chmod(file.name, 0o755)
            self.assertIs(missing_natively(FEATURES)("valgrind"), False)

    def test_a_skip_for_a_missing_feature_is_listed_with_its_reason(self):
        self.assertIn(("lacks", "needs lacking"), self.tally.skips)

    def test_a_skip_for_a_feature_that_is_there_is_a_failure(self):
        self.assertIn("says that it is there", self.failures["cheats"])

    def test_a_skip_for_an_unknown_feature_is_a_failure(self):
        self.assertIn("nothing reports", self.failures["unheard"])

    def test_any_other_reason_to_skip_is_a_failure_that_names_it(self):
        self.assertIn("(not under ThreadSanitizer) without saying", self.failures["other"])
        self.assertIn("(no reason given) without saying", self.failures["wordless"])

    def test_a_disabled_test_is_a_failure(self):
        self.assertIn("disabled", self.failures["switched_off"])


class Filters(unittest.TestCase):
    def test_expressions_of_ctest_pass(self):
        for text in ("", "Kernel", r"base_test\.Expected", "^a|b$", "[a-z]+(x)?", "a b", "x*", "with;semicolon"):
            self.assertIsNone(what_is_wrong_with(text, CMAKE), text)

    def test_a_broken_expression_is_told(self):
        for text in ("Kernel(", "[a", "*x", "a)"):
            self.assertTrue(what_is_wrong_with(text, CMAKE), text)


class Judging(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def judge(self, tally, status=0, filter_text=""):
        return Configuration(self.folder, "sample", filter_text, False)._judge(tally, status, "log")

    def test_no_results_are_a_failure(self):
        self.assertEqual(read_junit(os.path.join(self.folder, "nothing.xml"), None).failed, 1)

    def test_broken_results_are_a_failure(self):
        self.assertEqual(read_junit(self.write("broken.xml", "<testsuite><testcase"), None).failed, 1)

    def test_a_configuration_without_tests_is_a_failure(self):
        self.assertEqual(self.judge(Tally()).failed, 1)

    def test_a_filter_may_match_nothing_in_one_configuration(self):
        self.assertEqual(self.judge(Tally(), filter_text="x").failed, 0)

    def test_a_ctest_that_fails_silently_is_a_failure(self):
        self.assertEqual(self.judge(Tally(passed=3), status=8).failed, 1)

    def test_features_come_from_the_report(self):
        script = '#!/bin/sh\n[ "$1 $2" = "doctor --json" ] && echo \'{"features": {"a": true}}\'\n'
        program = self.write("ouro", script, 0o755)
        self.assertEqual(native_features(program), {"a": True})

    def test_a_report_that_cannot_be_read_knows_nothing(self):
        self.assertEqual(native_features(self.write("ouro", "#!/bin/sh\necho nonsense\n", 0o755)), {})
        self.assertEqual(native_features(os.path.join(self.folder, "none")), {})

    def test_a_list_names_what_is_missing(self):
        is_missing = missing_by_list(self.write("list.txt", "# comment\nfork  # no processes\n\n"))
        self.assertTrue(is_missing("fork"))
        self.assertIsNone(is_missing("threads"))


if __name__ == "__main__":
    unittest.main()
