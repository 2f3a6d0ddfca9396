"""Usage: snippets_test.py <source folder> <compiler> [flag...]

The C++ in the pages compiles: each block is the body of a function, all of them one translation unit.
"""

import os
import re
import subprocess
import sys
import unittest

SOURCE, COMPILER, *FLAGS = sys.argv[1:]
del sys.argv[1:]
PAGES = ("docs/allocators.md", "docs/collections.md", "docs/hardening.md")
MODULES = ("base", "os", "memory")


def blocks_of(page, text):
    """(page, line of the first line of code, code) of each block."""
    return [(page, text.count("\n", 0, found.start(1)) + 1, found.group(1))
            for found in re.finditer(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def headers():
    root = os.path.join(SOURCE, "modules/memory/include")
    for folder, folders, names in os.walk(root):
        # What is no user's business.
        folders[:] = sorted(name for name in folders if name != "detail")
        for name in sorted(names):
            # Needs another library.
            if name.endswith(".hpp") and name != "symbolized_reports.hpp":
                yield os.path.relpath(os.path.join(folder, name), root)


def unit_of(blocks):
    """A page may speak of an upstream that the reader has."""
    lines = [f"#include <{header}>" for header in headers()]
    lines += ["#include <cstdint>", "#include <cstdio>", "#include <memory_resource>", "#include <string>",
              "#include <vector>", "using namespace ouro;"]
    for number, (page, line, code) in enumerate(blocks):
        lines += [f"Status snippet_{number}([[maybe_unused]] MemoryResource& upstream);",
                  f"Status snippet_{number}([[maybe_unused]] MemoryResource& upstream) {{",
                  f'#line {line} "{page}"', code + "return Status::ok;", "}"]
    return "\n".join(lines) + "\n"


def compile_unit(unit):
    command = [COMPILER, *FLAGS, "-fsyntax-only", "-x", "c++", "-"]
    command += [f"-I{SOURCE}/modules/{module}/include" for module in MODULES]
    return subprocess.run(command, input=unit, stderr=subprocess.PIPE, text=True, timeout=250)


class Snippets(unittest.TestCase):
    def test_of_all_pages_compile(self):
        blocks = []
        for page in PAGES:
            with open(os.path.join(SOURCE, page), encoding="utf-8") as text:
                found = blocks_of(page, text.read())
            self.assertTrue(found, f"{page} has no C++")
            blocks += found
        result = compile_unit(unit_of(blocks))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_whole_programs_are_those_of_the_examples(self):
        for page, example in (("docs/ecs.md", "examples/ecs_rewind.cpp"),):
            with open(os.path.join(SOURCE, page), encoding="utf-8") as text:
                codes = [code for _, _, code in blocks_of(page, text.read())]
            with open(os.path.join(SOURCE, example), encoding="utf-8") as text:
                self.assertIn(text.read(), codes, f"{page} shows another program than {example}")

    def test_that_are_wrong_are_named_with_page_and_line(self):
        page = "# Page\n\n```cpp\nauto frame = FrameAllocator::create({});\nframe->no_such_function();\n```\n"
        result = compile_unit(unit_of(blocks_of("page.md", page)))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("page.md:5:", result.stderr)


if __name__ == "__main__":
    unittest.main()
