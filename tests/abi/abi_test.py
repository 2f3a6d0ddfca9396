"""Usage: abi_test.py <cmake> <compiler> <other compiler> <tier> <tier's number> <alignment> <library>...

Resources and blocks pass between a shared library of one compiler and a program of another, in both directions.
The libraries are those of this build, made by the first compiler; a second set is made here by the other one.
Two copies of the libraries in one process keep their heaps apart.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, COMPILER, OTHER, TIER, TIER_NUMBER, ALIGNMENT = (sys.argv.pop(1) for _ in range(6))
LIBRARIES = sys.argv[1:]
del sys.argv[1:]
HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
INCLUDES = [f"-I{folder}" for folder in sorted(glob.glob(os.path.join(SOURCE, "modules", "*", "include")))]
SETTINGS = [f"-DOURO_HARDENING={TIER_NUMBER}", f"-DOURO_DEFAULT_ALIGNMENT={ALIGNMENT}"]
FLAGS = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", *SETTINGS, *INCLUDES]


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        raise AssertionError(" ".join(command) + "\n" + result.stdout)
    return result.stdout


class TwoCompilers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for compiler in (COMPILER, OTHER):
            if shutil.which(compiler) is None:
                raise AssertionError(f"{compiler} is missing, and without two compilers there is nothing to compare; "
                                     "tools/setup test installs them")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        build = os.path.join(cls.folder, "other")
        run(CMAKE, "-S", SOURCE, "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={OTHER}",
            "-DCMAKE_BUILD_TYPE=Release", "-DOURO_BUILD_TESTS=OFF", "-DOURO_BUILD_BENCHES=OFF", "-DOURO_BUILD_APPS=OFF",
            "-DOURO_BUILD_SYMBOLIZE=OFF", f"-DOURO_HARDENING={TIER}", f"-DOURO_DEFAULT_ALIGNMENT={ALIGNMENT}")
        run(CMAKE, "--build", build, "--target", "ouro_memory")
        others = [os.path.join(path, name) for library in LIBRARIES for name in [os.path.basename(library)]
                  for path, _, names in os.walk(build) if name in names]
        cls.libraries = {COMPILER: LIBRARIES, OTHER: others}

    def make_library(self, compiler, folder):
        # Nothing but what exchange.hpp names leaves the library: otherwise the program's copy of a function would be
        # used by the library too, and only one compiler be tested.
        exports = os.path.join(folder, "exports")
        with open(exports, "w", encoding="utf-8") as file:
            file.write('{ global: extern "C++" { exchange::*; }; local: *; };\n')
        library = os.path.join(folder, "libexchange.so")
        run(compiler, *FLAGS, "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", os.path.join(HERE, "library.cpp"),
            *self.libraries[compiler], f"-Wl,--version-script={exports}", "-pthread", "-o", library)
        exported = run("nm", "-D", "--defined-only", library)
        names = [line.split()[-1] for line in exported.splitlines()]
        self.assertTrue(names and all(name.startswith("_ZN8exchange") for name in names), exported)

    def exchange(self, library_compiler, program_compiler):
        folder = tempfile.mkdtemp(dir=self.folder)
        self.make_library(library_compiler, folder)
        program = os.path.join(folder, "program")
        run(program_compiler, *FLAGS, os.path.join(HERE, "program.cpp"), *self.libraries[program_compiler],
            f"-L{folder}", "-lexchange", f"-Wl,-rpath,{folder}", "-pthread", "-o", program)
        self.assertIn("both understand each other", run(program))

    def test_our_library_in_a_program_of_the_other_compiler(self):
        self.exchange(COMPILER, OTHER)

    def test_a_library_of_the_other_compiler_in_our_program(self):
        self.exchange(OTHER, COMPILER)


class TwoCopies(unittest.TestCase):
    """A program and a library of the same compiler, each with a copy of Ouroboros, and nothing hidden."""

    def test_each_uses_its_own_heaps(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "libcopy.so")
            run(COMPILER, *FLAGS, "-fPIC", "-shared", os.path.join(HERE, "copy_library.cpp"), *LIBRARIES,
                "-Wl,-Bsymbolic-functions", "-pthread", "-o", library)
            # Otherwise the copies have nothing in common, and there is nothing to see.
            self.assertIn("t_heap_notes", run("nm", "-D", "--defined-only", library))
            program = os.path.join(folder, "program")
            run(COMPILER, *FLAGS, os.path.join(HERE, "copy_program.cpp"), *LIBRARIES, f"-L{folder}", "-lcopy",
                f"-Wl,-rpath,{folder}", "-pthread", "-o", program)
            self.assertIn("each has its own", run(program))


if __name__ == "__main__":
    unittest.main()
