"""Usage: install_test.py <cmake> <build folder> <compiler> <component>...

Installs the libraries, moves the installed tree, and builds and runs a small outside project against it through
find_package and through pkg-config. The recipe in docs/hacking.md works as typed, and a build that is not complete
is refused before anything is copied.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD, COMPILER = (sys.argv.pop(1) for _ in range(3))
COMPONENTS = sys.argv[1:]
del sys.argv[1:]
OUTSIDE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "outside")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(OUTSIDE)))


def run(*command, environment=None):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    return result.returncode, result.stdout


class InstalledTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        first = os.path.join(cls.folder, "first place")
        code, text = run(CMAKE, "--install", BUILD, "--prefix", first)
        if code != 0:
            raise AssertionError(text)
        # Nothing installed may remember where it was installed first.
        cls.prefix = os.path.join(cls.folder, "moved")
        os.rename(first, cls.prefix)

    def configure(self, *options):
        build = tempfile.mkdtemp(dir=self.folder)
        code, text = run(CMAKE, "-S", OUTSIDE, "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={COMPILER}",
                         f"-DCMAKE_PREFIX_PATH={self.prefix}", *options)
        return code, text, build

    def assert_runs(self, program):
        code, text = run(program)
        self.assertEqual(code, 0, text)
        self.assertEqual(text, "the installed library works\n")

    def build_and_run(self, *options):
        code, text, build = self.configure(*options)
        self.assertEqual(code, 0, text)
        code, text = run(CMAKE, "--build", build)
        self.assertEqual(code, 0, text)
        self.assert_runs(os.path.join(build, "outside"))

    def test_find_package_with_components(self):
        self.build_and_run("-DCOMPONENTS=base;os")

    def test_find_package_loads_what_a_component_needs(self):
        self.build_and_run("-DCOMPONENTS=os")

    def test_find_package_without_components(self):
        self.build_and_run("-DCOMPONENTS=")

    def test_every_component_can_be_found_and_linked(self):
        for component in COMPONENTS:
            with self.subTest(component):
                code, text, _ = self.configure(f"-DCOMPONENTS={component}", f"-DONLY_FIND={component}")
                self.assertEqual(code, 0, text)
                self.build_and_run(f"-DCOMPONENTS=os;{component}", f"-DALSO_LINK={component}")

    def test_the_first_program_of_the_ecs_guide_is_built_and_runs(self):
        if "ecs" not in COMPONENTS:
            self.skipTest("needs ecs")
        with open(os.path.join(SOURCE, "docs", "ecs.md"), encoding="utf-8") as page:
            code = re.search(r"^```cpp\n(.*?)^```$", page.read(), re.MULTILINE | re.DOTALL).group(1)
        program = os.path.join(self.folder, "first.cpp")
        with open(program, "w", encoding="utf-8") as file:
            file.write(code)
        code, text, build = self.configure("-DCOMPONENTS=ecs", f"-DPROGRAM={program}", "-DALSO_LINK=ecs")
        self.assertEqual(code, 0, text)
        code, text = run(CMAKE, "--build", build)
        self.assertEqual(code, 0, text)
        code, text = run(os.path.join(build, "outside"))
        self.assertEqual(code, 0, text)
        self.assertIn("rewound, never frozen: y = 22", text)

    def test_an_unknown_component_is_named(self):
        code, text, _ = self.configure("-DCOMPONENTS=base;nonsense")
        self.assertNotEqual(code, 0)
        self.assertIn("ouroboros has no component 'nonsense'", text)
        self.assertIn("base, os", " ".join(text.split()))

    def test_an_unknown_optional_component_is_not_found(self):
        code, text, _ = self.configure("-DCOMPONENTS=base", "-DOPTIONAL=nonsense", "-DONLY_FIND=base")
        self.assertEqual(code, 0, text)
        self.assertIn("nonsense found: FALSE", text)

    def test_another_version_is_refused(self):
        code, text, _ = self.configure("-DVERSION=99.0", "-DCOMPONENTS=base")
        self.assertNotEqual(code, 0)
        self.assertIn("99.0", text)

    def test_pkg_config(self):
        found = [os.path.join(path, "") for path, _, names in os.walk(self.prefix) if "ouroboros.pc" in names]
        self.assertEqual(len(found), 1, found)
        environment = dict(os.environ, PKG_CONFIG_PATH=found[0])
        code, flags = run("pkg-config", "--cflags", "--libs", "ouroboros", environment=environment)
        self.assertEqual(code, 0, flags)
        self.assertIn("-ffp-contract=off", flags)
        program = os.path.join(self.folder, "by_pkg_config")
        code, text = run(COMPILER, os.path.join(OUTSIDE, "main.cpp"), "-o", program, *flags.split())
        self.assertEqual(code, 0, text)
        self.assert_runs(program)

    def test_other_settings_than_the_librarys_do_not_link(self):
        if "memory" not in COMPONENTS:
            self.skipTest("needs memory")
        source = os.path.join(self.folder, "settings.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <ouro/memory/guarded_allocator.hpp>\nint main() {}\n")
        found = [path for path, _, names in os.walk(self.prefix) if "ouroboros.pc" in names]
        environment = dict(os.environ, PKG_CONFIG_PATH=found[0])
        code, text = run("pkg-config", "--cflags", "--libs", "ouroboros", environment=environment)
        self.assertEqual(code, 0, text)
        flags = text.split()
        program = os.path.join(self.folder, "settings")
        code, text = run(COMPILER, source, "-o", program, *flags)
        self.assertEqual(code, 0, text)
        for name, values in (("OURO_HARDENING", ("0", "1", "2")), ("OURO_DEFAULT_ALIGNMENT", ("16", "32", "64"))):
            for value in values:
                if f"-D{name}={value}" in flags:
                    continue
                code, text = run(COMPILER, source, "-o", program, *flags, f"-U{name}", f"-D{name}={value}")
                self.assertNotEqual(code, 0, f"{name}={value} was not noticed")
                self.assertIn(f"the_library_was_not_built_with_{name}_{value}", text)

    def test_pkg_config_tells_the_same_as_the_targets(self):
        texts = {}
        for path, _, names in os.walk(self.prefix):
            for name in names:
                if name.endswith((".cmake", ".pc")):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        texts[name] = file.read()
        targets = "".join(text for name, text in texts.items() if name.endswith(".cmake"))
        definitions = set()
        for value in re.findall(r'INTERFACE_COMPILE_DEFINITIONS "([^"]*)"', targets):
            value = re.sub(r"\\\$<BOOL:(ON|1|TRUE)>", "1", value)
            definitions.update(re.sub(r"\\\$<BOOL:[^>]*>", "0", value).split(";"))
        # No header of the libraries asks for it.
        definitions -= {"OURO_FAULT_INJECTION"}
        for name in ("ASSERT_LEVEL", "DEFAULT_ALIGNMENT", "HARDENING", "HUGE_PAGES", "OBSERVE"):
            self.assertTrue(any(value.startswith(f"OURO_{name}=") for value in definitions), (name, definitions))
        for definition in definitions:
            self.assertIn(f"-D{definition}", texts["ouroboros.pc"])

    def test_debuggers_find_their_files(self):
        for name in ("ouro_gdb.py", "ouro_gdb_sim.py", "ouroboros.natvis"):
            self.assertTrue(os.path.exists(os.path.join(self.prefix, "share", "ouroboros", name)), name)

    def test_nothing_installed_names_the_build(self):
        for path, _, names in os.walk(self.prefix):
            for name in names:
                if name.endswith((".cmake", ".pc", ".hpp")):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        text = file.read()
                    self.assertNotIn(BUILD, text, name)
                    self.assertNotIn(SOURCE, text, name)


class Recipe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.prefix = os.path.join(self.folder, "prefix")

    def documented_commands(self):
        with open(os.path.join(SOURCE, "docs", "hacking.md"), encoding="utf-8") as file:
            section = file.read().split("## Use it from another project")[1].split("\n## ")[0]
        blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
        return [line.split(" #")[0].strip() for block in blocks for line in block.splitlines()]

    def test_the_documented_commands_work(self):
        build, install, *others = self.documented_commands()
        # Done already: this test belongs to that build.
        self.assertEqual(build, "tools/build release")
        self.assertIn(" build/release ", install)
        for command in (install.replace("build/release", BUILD), *others):
            code, text = run("sh", "-c", command.replace("<folder>", self.prefix))
            self.assertEqual(code, 0, command + "\n" + text)
        self.assertIn("-louroboros_base", text)

    def test_what_is_not_built_is_named_and_nothing_is_installed(self):
        build = os.path.join(self.folder, "build")
        code, text = run(CMAKE, "-S", SOURCE, "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={COMPILER}",
                         "-DOURO_BUILD_TESTS=OFF", "-DOURO_BUILD_BENCHES=OFF")
        self.assertEqual(code, 0, text)
        for options in ((), ("--component", "base")):
            code, text = run(CMAKE, "--install", build, "--prefix", self.prefix, *options)
            self.assertNotEqual(code, 0)
            self.assertIn("tools/build release", " ".join(text.split()))
            self.assertIn("libouroboros_base.a", text)
            self.assertFalse(os.path.exists(self.prefix), text)


class TreeInside(unittest.TestCase):
    """A project that adds this tree to its own, and the documented build of the libraries alone."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = os.path.join(folder.name, "build")

    def configure(self, *command):
        code, text = run(*command, "-B", self.build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={COMPILER}")
        self.assertEqual(code, 0, text)
        with open(os.path.join(self.build, "build.ninja"), encoding="utf-8") as file:
            rules = file.read()
        for stranger in ("googletest", "gtest", "CLI11", "-ldw", "-lunwind", "valgrind_probe", "_test.dir"):
            self.assertNotIn(stranger, rules)
        self.assertIn("libouroboros_memory.a", rules)

    def test_it_brings_no_tests_and_needs_nothing_else(self):
        self.configure(CMAKE, "-S", OUTSIDE, f"-DTREE={SOURCE}")
        code, text = run(CMAKE, "--build", self.build, "--target", "outside")
        self.assertEqual(code, 0, text)
        self.assertEqual(run(os.path.join(self.build, "outside")), (0, "the installed library works\n"))
        code, text = run("ctest", "--test-dir", self.build, "-N")
        self.assertIn("Total Tests: 0", text)

    def test_the_documented_options_leave_the_libraries(self):
        with open(os.path.join(SOURCE, "docs", "hacking.md"), encoding="utf-8") as file:
            section = file.read().split("## Only the libraries")[1]
        options = re.findall(r"-DOURO_\w+=OFF", section.split("```")[1])
        self.assertGreater(len(options), 3)
        self.configure(CMAKE, "-S", SOURCE, *options)


if __name__ == "__main__":
    unittest.main()
