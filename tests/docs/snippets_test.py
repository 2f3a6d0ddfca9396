"""Usage: snippets_test.py <source folder> <compiler> [flag...]

The C++ in the pages compiles: each block is the body of a function, all of them one translation unit. A block with
includes is a program: it is compiled alone, with nothing but what it includes.
"""

import os
import re
import subprocess
import sys
import unittest

SOURCE, COMPILER, *FLAGS = sys.argv[1:]
del sys.argv[1:]
PAGES = ("docs/allocators.md", "docs/collections.md", "docs/hardening.md")
STREAM_PAGES = ("docs/foreign-code.md", "docs/sim-types.md", "docs/state-ring.md", "docs/streams.md")
MODULES = ("base", "os", "memory", "observe", "jobs", "streams", "ecs")
# What a newcomer reads first, and types off.
GUIDES = ("docs/ecs.md", "docs/ecs-entities.md", "docs/ecs-shared.md", "docs/ecs-systems.md", "docs/ecs-tools.md",
          "docs/jobs.md", "docs/observe.md", "docs/sim-types.md", "docs/state-ring.md")


def blocks_of(page, text):
    """(page, line of the first line of code, code) of each block."""
    return [(page, text.count("\n", 0, found.start(1)) + 1, found.group(1))
            for found in re.finditer(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def is_program(block):
    return re.search(r"^#include", block[2], re.MULTILINE) is not None


def blocks_in(page):
    with open(os.path.join(SOURCE, page), encoding="utf-8") as text:
        return blocks_of(page, text.read())


def headers(module):
    root = os.path.join(SOURCE, f"modules/{module}/include")
    for folder, folders, names in os.walk(root):
        # What is no user's business.
        folders[:] = sorted(name for name in folders if name != "detail")
        for name in sorted(names):
            # Needs another library.
            if name.endswith(".hpp") and name != "symbolized_reports.hpp":
                yield os.path.relpath(os.path.join(folder, name), root)


def unit_of(blocks, module="memory"):
    """A page may speak of an upstream that the reader has, and of other things in reader_has.hpp."""
    lines = [f"#include <{header}>" for header in headers(module)]
    if module == "streams":
        lines += ["#include <ouro/os/steady_stack.hpp>", '#include "tests/docs/reader_has.hpp"']
    lines += ["#include <cstdint>", "#include <cstdio>", "#include <memory_resource>", "#include <string>",
              "#include <vector>", "using namespace ouro;"]
    for number, (page, line, code) in enumerate(blocks):
        lines += [f"Status snippet_{number}([[maybe_unused]] MemoryResource& upstream);",
                  f"Status snippet_{number}([[maybe_unused]] MemoryResource& upstream) {{",
                  f'#line {line} "{page}"', code + "return Status::ok;", "}"]
    return "\n".join(lines) + "\n"


def program_of(block):
    page, line, code = block
    return f'#line {line} "{page}"\n{code}'


def compile_unit(unit):
    command = [COMPILER, *FLAGS, "-fsyntax-only", "-Werror=unused-result", f"-I{SOURCE}", "-x", "c++", "-"]
    command += [f"-I{SOURCE}/modules/{module}/include" for module in MODULES]
    return subprocess.run(command, input=unit, stderr=subprocess.PIPE, text=True, timeout=250)


class Snippets(unittest.TestCase):
    def test_of_all_pages_compile(self):
        self.assert_compile(PAGES, "memory")

    def test_of_the_pages_on_streams_compile(self):
        self.assert_compile(STREAM_PAGES, "streams")

    def assert_compile(self, pages, module):
        blocks = []
        for page in pages:
            found = blocks_in(page)
            self.assertTrue(found, f"{page} has no C++")
            blocks += [block for block in found if not is_program(block)]
        result = compile_unit(unit_of(blocks, module))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_guides_begin_with_a_program(self):
        for page in GUIDES:
            first = blocks_in(page)[0]
            self.assertTrue(is_program(first), f"{page}:{first[1]}: the first program has no #include lines")
            self.assertIn("int main(", first[2], f"{page}:{first[1]}")

    def test_programs_compile_with_what_they_include(self):
        for page in sorted({*PAGES, *STREAM_PAGES, *GUIDES}):
            for block in filter(is_program, blocks_in(page)):
                result = compile_unit(program_of(block))
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_programs_that_lack_an_include_are_named(self):
        page = "```cpp\n#include <cstdint>\n\nouro::StateRing ring;\n```\n"
        result = compile_unit(program_of(blocks_of("page.md", page)[0]))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("page.md:4:", result.stderr)

    def test_whole_programs_are_those_of_the_examples(self):
        for page, example in (("docs/ecs.md", "examples/ecs_rewind.cpp"),
                              ("docs/ecs-tools.md", "examples/dump_a_tick.cpp"),
                              ("docs/state-ring.md", "examples/late_inputs.cpp")):
            codes = [code for _, _, code in blocks_in(page)]
            with open(os.path.join(SOURCE, example), encoding="utf-8") as text:
                self.assertIn(text.read(), codes, f"{page} shows another program than {example}")

    def test_that_are_wrong_are_named_with_page_and_line(self):
        page = "# Page\n\n```cpp\nauto frame = FrameAllocator::create({});\nframe->no_such_function();\n```\n"
        result = compile_unit(unit_of(blocks_of("page.md", page)))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("page.md:5:", result.stderr)

    def test_that_ignore_a_result_are_named(self):
        page = "```cpp\nring.commit();\n```\n"
        result = compile_unit(unit_of(blocks_of("page.md", page), "streams"))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("page.md:2:", result.stderr)


if __name__ == "__main__":
    unittest.main()
