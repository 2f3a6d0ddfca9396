"""Usage: gdb_test.py <source tree> <sample program>: what gdb shows of our types, running or in a core."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.realpath(sys.argv.pop(1))
SAMPLE = os.path.realpath(sys.argv.pop(1))
SCRIPT = os.path.join(ROOT, "tools", "debuggers", "ouro_gdb.py")


def gdb(arguments, *commands):
    words = ["gdb", "-batch", "-nx"]
    for command in ("set width 0", "set debuginfod enabled off", f"source {SCRIPT}", *commands):
        words += ["-ex", command]
    # Its own python must not take the modules of another one.
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run([*words, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=surroundings, timeout=240)
    return result.stdout


def reason_to_skip():
    if shutil.which("gdb") is None:
        return "gdb is not installed; tools/setup installs it"
    if "Python scripting is not supported" in gdb([], "python print(1)"):
        return "this gdb was built without python"
    if "Breakpoint 1, " not in gdb([SAMPLE], "break stop_here", "run"):
        return "gdb cannot start programs here: the system does not allow ptrace"
    return None


SKIP = reason_to_skip()
if SKIP:
    print(f"skipped: {SKIP}")


@unittest.skipIf(SKIP, SKIP)
class Views(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.core = os.path.join(cls.folder.name, "core")
        cls.shown = gdb([SAMPLE], "break stop_here", "run", "up", "info locals", "ouro-tags",
                        f"generate-core-file {cls.core}")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def assert_local(self, name, text):
        line = re.search(rf"^{name} = (.*)$", self.shown, re.MULTILINE)
        self.assertIsNotNone(line, self.shown)
        self.assertRegex(line.group(1), f"^{text}$")

    def test_values_and_failures(self):
        self.assert_local("charged", r"ok = \{value = 1000 bytes at 0x[0-9a-f]+\}")
        self.assert_local("refused", "failed: budget_exceeded")
        self.assert_local("seven", r"ok = \{value = 7\}")
        self.assert_local("late", "failed: timed_out")
        self.assert_local("done", "ok")
        self.assert_local("nothing", "no block")

    def test_names_of_things(self):
        self.assert_local("handle", "slot 5, generation 3")
        self.assert_local("small_handle", "slot 6, generation 2")
        self.assert_local("no_handle", "null handle")
        self.assert_local("tag", r"sample-creatures \(tag \d+\)")
        self.assert_local("offset", "offset 64 to int")
        self.assert_local("traits", r"\{hungry, ill\}")

    def test_collections(self):
        self.assert_local("vector", r"5 elements, room for \d+ = \{10, 20, 30, 40, 50\}")
        self.assert_local("ring", r"ok = \{value = 3 elements, room for 3 = \{3, 4, 5\}\}")
        self.assert_local("bits", r"ok = \{value = 2 of 100 bits: \{3, 64\}\}")
        self.assert_local("fixed", r"1 of 70 bits: \{69\}")
        self.assert_local("names", r'2 texts = \{"torch", "rope"\}')
        self.assert_local("rows", r"5 rows, room for 64 = "
                                  r"\{column 0 = \{1, 2, 3, 4, 5\}, column 1 = \{0.5, 1, 1.5, 2, 2.5\}\}")

    def test_what_lies_in_an_image(self):
        shown = gdb([SAMPLE], "break stop_in_image", "run", "up", "info locals", "print shop", "print copy",
                    f"generate-core-file {self.core}.image")
        for text in (shown, gdb([SAMPLE, self.core + ".image"], "up", "info locals", "print shop", "print copy")):
            self.shown = text
            self.assert_local("ada", r"ok = \{value = object 0, generation 1\}")
            # The first chunk has sixteen places.
            self.assert_local("last", r"ok = \{value = object 17, generation 1\}")
            self.assert_local("wolf", r"entity \d+, generation \d+")
            self.assert_local("letters", r'"a \\"short\\" text"')
            self.assert_local("numbers", r"3 elements, room for \d+ = \{7, 8, 9\}")
            self.assert_local("prices", r'2 entries = \{\["rope"\] = 3, \["lamp"\] = 7\}')
            self.assert_local("guests", r'2 keys = \{5, 3\}')
            self.assert_local("people", r'17 objects = \{\[0\] = \{name = "Ada", gold = 10\}, '
                                        r'\[2\] = \{name = "Eve", gold = 10\}.*\[17\] = .*\}')
            # The same through the shop itself, whose place in the image says where it begins.
            self.assertRegex(text, r'prices = 2 entries = \{\["rope"\] = 3, \["lamp"\] = 7\}, '
                                   r'guests = 2 keys = \{5, 3\}, people = 17 objects = \{.*\}, '
                                   r'title = "a \\"short\\" text", numbers = 3 elements, room for \d+ = \{7, 8, 9\}, '
                                   r'next = offset \d+ to Shop at 0x[0-9a-f]+\}')
            # A copy on the stack lies in no image.
            self.assertRegex(text, r'prices = 2 entries, at offset \d+, guests = 2 keys, at offset \d+, '
                                   r'people = 17 objects, at offset \d+, title = 14 characters, at offset \d+, '
                                   r'numbers = 3 elements, room for \d+, at offset \d+, next = offset \d+ to Shop\}')

    def assert_tags(self, text):
        self.assertRegex(text, r"everything +1000 B +3.4 KiB +- +- +1 +1\n")
        self.assertRegex(text, r"  sample-game +1000 B +3.4 KiB +- +- +1 +1\n")
        self.assertRegex(text, r"    sample-creatures +1000 B +3.4 KiB +2 KiB +4 KiB +1 +1\n")

    def test_the_ledger_of_a_stopped_program(self):
        self.assert_tags(self.shown)

    def test_the_ledger_of_a_core(self):
        self.assert_tags(gdb([SAMPLE, self.core], "ouro-tags"))

    def test_without_a_ledger_it_says_why(self):
        self.assertIn("ouro-tags: gdb knows nothing of the records' types", gdb([], "ouro-tags"))
        self.assertIn("ouro-tags: nothing was charged", gdb([SAMPLE], "break main", "run", "ouro-tags"))


if __name__ == "__main__":
    unittest.main()
