"""Usage: module_rules_test.py <cmake> <compiler>

Makes small trees of two modules with the project's own ouro_module(): the right one builds; a module that links a
later one is refused when configuring; a header that does not stand alone, or includes a later module, does not build.
"""

import os
import subprocess
import sys
import tempfile
import unittest

CMAKE, COMPILER = sys.argv.pop(1), sys.argv.pop(1)
HERE = os.path.dirname(os.path.realpath(__file__))
RULES = os.path.join(HERE, "..", "..", "cmake")

ROOT = """cmake_minimum_required(VERSION 3.25)
project(sample LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH "{rules}")
include(OuroOptions)
include(OuroFlags)
include(OuroModule)
set(OURO_LAYERS first second)
foreach(layer IN LISTS OURO_LAYERS)
  add_subdirectory(${{layer}})
endforeach()
"""
ALONE = "#pragma once\n#include <cstdint>\ninline std::uint32_t {name}_value() {{ return 1; }}\n"
NOT_ALONE = "#pragma once\ninline std::uint32_t {name}_value() {{ return 1; }}\n"
SOURCE = "#include <cstdint>\nstd::uint32_t {name}_count();\nstd::uint32_t {name}_count() {{ return 1; }}\n"
USES_SECOND = "#pragma once\n#include <ouro/second/value.hpp>\n"


class ModuleRules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = folder.name

    def write(self, path, text):
        path = os.path.join(self.tree, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def make_tree(self, first_header=ALONE, first_depends=""):
        self.write("CMakeLists.txt", ROOT.format(rules=RULES))
        for name, header, depends in (("first", first_header, first_depends), ("second", ALONE, "DEPENDS first")):
            self.write(f"{name}/CMakeLists.txt", f"ouro_module({name} {depends} SOURCES src/{name}.cpp)\n")
            self.write(f"{name}/include/ouro/{name}/value.hpp", header.format(name=name))
            # The source includes what the header forgot, as it happens in life.
            self.write(f"{name}/src/{name}.cpp", SOURCE.format(name=name))

    def cmake(self, *arguments):
        result = subprocess.run([CMAKE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return result.returncode, result.stdout

    def configure(self):
        return self.cmake("-S", self.tree, "-B", self.tree + "/build", "-G", "Ninja",
                          f"-DCMAKE_CXX_COMPILER={COMPILER}")

    def configure_and_build(self):
        code, text = self.configure()
        self.assertEqual(code, 0, text)
        return self.cmake("--build", self.tree + "/build")

    def test_a_right_tree_builds(self):
        self.make_tree()
        code, text = self.configure_and_build()
        self.assertEqual(code, 0, text)

    def test_a_later_module_cannot_be_linked(self):
        self.make_tree(first_depends="DEPENDS second")
        code, text = self.configure()
        self.assertNotEqual(code, 0, text)
        self.assertIn("Module 'first' may not depend on 'second'", text)

    def test_an_unknown_module_cannot_be_linked(self):
        self.make_tree(first_depends="DEPENDS third")
        code, text = self.configure()
        self.assertNotEqual(code, 0, text)
        self.assertIn("Module 'first' may not depend on 'third'", text)

    def test_a_header_that_does_not_stand_alone_is_caught(self):
        self.make_tree(first_header=NOT_ALONE)
        code, text = self.configure_and_build()
        self.assertNotEqual(code, 0, text)
        self.assertIn("ouro/first/value.hpp", text)

    def test_a_later_modules_header_is_not_found(self):
        self.make_tree(first_header=USES_SECOND)
        code, text = self.configure_and_build()
        self.assertNotEqual(code, 0, text)
        self.assertRegex(text, r"ouro/second/value\.hpp.*(No such file|file not found)")


if __name__ == "__main__":
    unittest.main()
