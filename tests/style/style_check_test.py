"""Every rule of tools/style-check lets a right tree pass and catches a tree that breaks it."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
CHECK = os.path.join(ROOT, "tools", "style-check")
HEADER = "modules/base/include/ouro/base/sample.hpp"
SOURCE = "modules/base/src/sample.cpp"
# Put together here so that this file does not break the rules it tests.
UNFINISHED = "TO" + "DO"
HOME = "/ho" + "me/somebody/tree"


def function_of(lines, signature="int long_one()"):
    body = "".join(f"    values[{number}] = {number};\n" for number in range(lines - 2))
    return f"{signature} {{\n{body}}}\n"


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = folder.name
        with open(os.path.join(ROOT, ".clang-format"), encoding="utf-8") as file:
            self.write(".clang-format", file.read())
        self.write("CMakeLists.txt", "set(OURO_LAYERS base os memory)\n")
        self.write(HEADER, "#pragma once\n\n#include <cstdint>\n")
        self.write_baseline()

    def write(self, path, text):
        path = os.path.join(self.tree, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def write_baseline(self, files=0, functions=0, longest_file=400, longest_function=50):
        self.write("tools/style/baseline.json", json.dumps(
            {"files_over_400_lines": files, "functions_over_50_lines": functions, "longest_file_lines": longest_file,
             "longest_function_lines": longest_function}) + "\n")

    def read_baseline(self):
        with open(os.path.join(self.tree, "tools/style/baseline.json"), encoding="utf-8") as file:
            return json.load(file)

    def check(self, *options):
        result = subprocess.run([sys.executable, CHECK, "--root", self.tree, *options], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        return result.returncode, result.stdout

    def assert_right(self):
        code, text = self.check()
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"\Ano problems in \d+ files\n\Z")

    def assert_caught(self, place, rule, words=""):
        """The check fails with exactly one finding: this one."""
        code, text = self.check()
        self.assertEqual(code, 1, text)
        findings = [line for line in text.split("\n") if "[" in line]
        self.assertEqual(len(findings), 1, text)
        self.assertTrue(findings[0].startswith(f"{place}: [{rule}] "), text)
        self.assertIn(words, findings[0])


class TextRules(Tree):
    def test_a_right_tree_passes(self):
        self.assert_right()

    def test_format(self):
        self.write(SOURCE, "int  twice(int value) { return value*2; }\n")
        self.assert_caught(SOURCE + ":1", "format", "clang-format-19 -i")

    def test_pragma_once(self):
        self.write(HEADER, "#include <cstdint>\n")
        self.assert_caught(HEADER + ":1", "pragma-once")

    def test_tab(self):
        self.write("docs/guide.md", "one\n\ttwo\n")
        self.assert_caught("docs/guide.md:2", "tab")

    def test_trailing_space(self):
        self.write("docs/guide.md", "one\ntwo \n")
        self.assert_caught("docs/guide.md:2", "trailing-space")

    def test_last_line(self):
        self.write("docs/guide.md", "one\ntwo")
        self.assert_caught("docs/guide.md:2", "last-line")

    def test_line_length(self):
        self.write("tools/sample.py", "#" * 121 + "\n")
        self.assert_caught("tools/sample.py:1", "line-length", "121 characters")

    def test_unfinished(self):
        self.write(SOURCE, f"// {UNFINISHED}: later\n")
        self.assert_caught(SOURCE + ":1", "unfinished")

    def test_machine_path(self):
        self.write("docs/guide.md", f"Look into {HOME} for more.\n")
        self.assert_caught("docs/guide.md:1", "machine-path")

    def test_platform_macro(self):
        self.write(SOURCE, "#if defined(__linux__)\n#endif\n")
        self.assert_caught(SOURCE + ":1", "platform", "src/<platform>/")

    def test_a_platform_macro_in_a_comment_is_no_matter(self):
        self.write(SOURCE, "// #if defined(__linux__)\n")
        self.assert_right()

    def test_file_name(self):
        self.write("modules/base/src/Sample.cpp", "\n")
        self.assert_caught("modules/base/src/Sample.cpp:1", "file-name", "snake_case")

    def test_vague_file_name(self):
        self.write("modules/base/src/string_utils.cpp", "\n")
        self.assert_caught("modules/base/src/string_utils.cpp:1", "file-name", "says nothing")

    def test_type_name(self):
        self.write(SOURCE, "struct page_range {\n    int first;\n};\n")
        self.assert_caught(SOURCE + ":1", "name", "PascalCase")

    def test_a_use_of_a_foreign_type_is_no_matter(self):
        self.write(SOURCE, "struct sigaction previous;\n")
        self.assert_right()

    def test_a_specialised_standard_template_keeps_its_name(self):
        self.write(SOURCE, "template <>\nstruct hash<Page> {\n    int first;\n};\n")
        self.assert_right()

    def test_constant_name(self):
        self.write(SOURCE, "constexpr unsigned page_bytes = 4096;\n")
        self.assert_caught(SOURCE + ":1", "name", "kLikeThis")

    def test_macro_name(self):
        self.write(SOURCE, "#define PAGE_BYTES 4096\n")
        self.assert_caught(SOURCE + ":1", "name", "OURO_")


class IncludeRules(Tree):
    def assert_include_caught(self, path, header, words):
        self.write(path, f"#include <{header}>\n")
        self.assert_caught(path + ":1", "include", words)

    def assert_include_right(self, path, header):
        self.write(path, f"#include <{header}>\n")
        self.assert_right()

    def test_each_forbidden_standard_header(self):
        for header in ("thread", "mutex", "condition_variable", "shared_mutex", "future", "regex", "iostream",
                       "filesystem", "fstream", "random", "chrono", "functional", "exception", "stdexcept"):
            with self.subTest(header):
                self.assert_include_caught(SOURCE, header, "has no place in modules/")

    def test_tests_may_use_the_whole_standard_library(self):
        self.assert_include_right("modules/base/test/sample_test.cpp", "thread")

    def test_a_later_module(self):
        self.assert_include_caught(SOURCE, "ouro/os/clock.hpp", "'base' stands before 'os'")

    def test_a_later_module_in_a_test(self):
        self.assert_include_caught("modules/os/test/sample_test.cpp", "ouro/memory/pool.hpp", "'os' stands before")

    def test_an_earlier_module_is_right(self):
        self.assert_include_right("modules/memory/src/sample.cpp", "ouro/os/clock.hpp")

    def test_an_unknown_module(self):
        self.assert_include_caught(SOURCE, "ouro/nowhere/clock.hpp", "no module 'nowhere'")

    def test_the_operating_system(self):
        for header in ("sys/mman.h", "unistd.h", "pthread.h", "linux/userfaultfd.h"):
            with self.subTest(header):
                self.assert_include_caught("modules/os/src/sample.cpp", header, "operating system")

    def test_the_operating_system_in_its_place(self):
        self.assert_include_right("modules/os/src/linux/sample.cpp", "sys/mman.h")

    def test_a_processor(self):
        self.assert_include_caught(SOURCE, "immintrin.h", "one processor")

    def test_a_processor_in_its_place(self):
        self.assert_include_right("modules/base/src/x86/sample.cpp", "immintrin.h")

    def test_third_parties(self):
        for path, header in ((HEADER, "xxhash.h"), (SOURCE, "lz4.h"), (SOURCE, "CLI/CLI.hpp"),
                             (SOURCE, "gtest/gtest.h"), ("apps/ouro/main.cpp", "libunwind.h")):
            with self.subTest(header):
                self.write(HEADER, "#pragma once\n")
                self.write(SOURCE, "\n")
                self.write("apps/ouro/main.cpp", "\n")
                once = "#pragma once\n" if path == HEADER else ""
                self.write(path, f"{once}#include <{header}>\n")
                self.assert_caught(f"{path}:{2 if once else 1}", "include", "may be included only below")

    def test_third_parties_in_their_places(self):
        self.assert_include_right(SOURCE, "xxhash.h")
        self.assert_include_right("apps/ouro/main.cpp", "CLI/CLI.hpp")
        self.assert_include_right("modules/base/test/sample_test.cpp", "gtest/gtest.h")

    def test_an_unknown_third_party(self):
        self.assert_include_caught(SOURCE, "boost/optional.hpp", "neither ours nor standard")

    def test_a_c_header(self):
        self.assert_include_caught(SOURCE, "string.h", "<cstring>")

    def test_a_way_up(self):
        self.write(SOURCE, '#include "../other/inside.hpp"\n')
        self.assert_caught(SOURCE + ":1", "include", "../")


class Lengths(Tree):
    def test_a_file_beyond_the_hard_limit(self):
        self.write_baseline(files=1, longest_file=700)
        self.write(SOURCE, "//\n" * 601)
        code, text = self.check()
        self.assertEqual(code, 1)
        self.assertIn(f"{SOURCE}:1: [file-length] 601 lines", text)

    def test_a_function_beyond_the_hard_limit(self):
        self.write_baseline(functions=1, longest_function=100)
        self.write(SOURCE, "int values[100];\n\n" + function_of(71))
        code, text = self.check()
        self.assertEqual(code, 1)
        self.assertIn(f"{SOURCE}:3: [function-length] 71 lines", text)

    def test_shapes_of_long_functions(self):
        shapes = {
            "a member": ("struct Sample {\n", "int long_one() const noexcept", "};\n"),
            "a template": ("namespace {\ntemplate <typename T>\n", "T long_one(T)", "}\n"),
            "a test": ("", "TEST(Suite, Case)", ""),
            "initialized members": ("", "Sample::Sample() : first_{1}, second_{2}", ""),
            "a trailing return": ("", "auto long_one(int a) -> int", ""),
        }
        for name, (before, signature, after) in shapes.items():
            with self.subTest(name):
                self.write(SOURCE, before + function_of(75, signature) + after)
                code, text = self.check()
                self.assertEqual(code, 1)
                self.assertRegex(text, r"\[function-length\] 7[56] lines", text)

    def test_a_long_table_or_type_is_no_function(self):
        rows = "".join(f"    {number},\n" for number in range(80))
        members = "".join(f"    int member_{number}_;\n" for number in range(80))
        self.write(SOURCE, f"constexpr int kTable[] = {{\n{rows}}};\n\n"
                           f"class Sample : public Base<int> {{\n{members}}};\n")
        self.assertNotIn("function", self.check()[1])

    def test_worse_than_the_baseline_fails(self):
        self.write(SOURCE, "int values[100];\n\n" + function_of(60))
        code, text = self.check()
        self.assertEqual(code, 1)
        self.assertIn("functions_over_50_lines rose from 0 to 1", text)
        self.assertIn("longest_function_lines rose from 50 to 60", text)

    def test_worse_cannot_be_made_the_baseline(self):
        self.write(SOURCE, "int values[100];\n\n" + function_of(60))
        code, _ = self.check("--update")
        self.assertEqual(code, 1)
        self.assertEqual(self.read_baseline()["functions_over_50_lines"], 0)

    def test_better_than_the_baseline_asks_to_lower_it(self):
        self.write_baseline(files=2, longest_file=555)
        code, text = self.check()
        self.assertEqual(code, 0, text)
        self.assertIn("lower it with tools/style-check --update: files_over_400_lines: 2 -> 0", text)
        self.assertEqual(self.check("--update")[0], 0)
        self.assertEqual(self.read_baseline()["longest_file_lines"], 400)
        self.assert_right()


if __name__ == "__main__":
    unittest.main()
