"""Usage: rejections_test.py <source folder> <compiler> [flag...]

Types that cannot be simulation state do not compile, and the message says what to use instead.
"""

import subprocess
import sys
import unittest

SOURCE, COMPILER, *FLAGS = sys.argv[1:]
del sys.argv[1:]
MODULES = ("base", "os", "memory", "observe", "jobs", "streams")
HEADERS = ("map", "pool", "set", "string", "vec")


def compile_body(declarations, statement):
    """Compiles a function that has a heap in an image."""
    lines = [f"#include <ouro/streams/sim_{header}.hpp>" for header in HEADERS]
    lines += ["#include <ouro/base/field_info.hpp>", "#include <string>", "#include <vector>", "using namespace ouro;",
              declarations, "void use(ImageHeap& heap);", "void use([[maybe_unused]] ImageHeap& heap) {",
              statement, "}"]
    command = [COMPILER, *FLAGS, "-fsyntax-only", "-x", "c++", "-"]
    command += [f"-I{SOURCE}/modules/{module}/include" for module in MODULES]
    return subprocess.run(command, input="\n".join(lines) + "\n", stderr=subprocess.PIPE, text=True, timeout=250)


class Rejections(unittest.TestCase):
    def assert_rejected(self, declarations, statement, *words):
        result = compile_body(declarations, statement)
        self.assertNotEqual(result.returncode, 0, "it compiles")
        for word in words:
            self.assertIn(word, result.stderr)

    def assert_fields_rejected(self, fields, *words):
        self.assert_rejected(f"struct Bad {{ {fields} }};", "static_cast<void>(heap.make<Bad>());", *words)

    def test_that_the_rest_compiles(self):
        result = compile_body("struct Good { std::uint32_t id; float health; SimVec<Good> children; SimString name; };",
                              "auto good = heap.make<Good>();\n"
                              "static_cast<void>(heap.bind(heap.get(*good).children).push_back({}));")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_pointer(self):
        self.assert_fields_rejected("std::uint64_t id; Bad* next;", "use OffsetPtr<T>")

    def test_a_function(self):
        self.assert_fields_rejected("void (*callback)();", "use OffsetPtr<T> or a handle")

    def test_a_reference(self):
        self.assert_fields_rejected("int& target;", "use OffsetPtr<T> instead of a reference")

    def test_padding(self):
        self.assert_fields_rejected("std::uint32_t id; double value;", "add an explicit padding field")

    def test_padding_of_a_field_of_a_field(self):
        self.assert_fields_rejected("struct Inner { double value; std::int8_t small; } inner[2];",
                                    "add an explicit padding field")

    def test_bit_fields(self):
        self.assert_fields_rejected("std::uint32_t low : 4; std::uint32_t high : 28;", "use an integer and masks")

    def test_a_width_that_differs(self):
        self.assert_fields_rejected("long double value;", "use std::int32_t")
        self.assert_fields_rejected("wchar_t letter;", "use std::int32_t")
        self.assert_fields_rejected("__extension__ __int128 large;", "use std::int32_t")

    def test_a_pair(self):
        self.assert_fields_rejected("std::pair<std::uint32_t, std::uint32_t> both;", "a struct with named fields")

    def test_what_owns_memory(self):
        self.assert_fields_rejected("std::string name;", "use SimVec, SimString, SimMap")
        self.assert_fields_rejected("std::vector<int> all;", "use SimVec, SimString, SimMap")

    def test_a_union(self):
        self.assert_fields_rejected("union { std::int32_t whole; float real; } either;", "use a struct")

    def test_a_union_without_a_name(self):
        self.assert_fields_rejected("union { std::int32_t whole; float real; };", "without a name")
        self.assert_fields_rejected("std::int32_t id; union { std::int32_t whole; float real; };", "without a name")

    def test_what_is_hidden(self):
        self.assert_rejected("class Bad { int value_ = 0; public: int value() const { return value_; } };",
                             "static_cast<void>(heap.make<Bad>());", "specialize kIsSimValue")

    def test_a_base(self):
        self.assert_rejected("struct Base { int x; }; struct Bad : Base { int y; };",
                             "static_cast<void>(heap.make<Bad>());", "make the base a field")

    def test_a_bound_array_in_the_image(self):
        self.assert_fields_rejected("SimVecRef<int> bound;", "cannot be looked at")

    def test_keys_that_are_not_their_bytes(self):
        self.assert_rejected("struct Holder { SimMap<float, int> all; };",
                             "heap.bind(heap.get(OffsetPtr<Holder>()).all).clear();", "not floats")
        self.assert_rejected("struct Holder { SimSet<double> all; };",
                             "heap.bind(heap.get(OffsetPtr<Holder>()).all).clear();", "not floats")

    def test_what_has_no_description(self):
        for function in ("fields_of", "layout_hash_of"):
            use = f"static_cast<void>({function}<Bad>());"
            self.assert_rejected("struct Bad { std::uint64_t id; Bad* next; };", use, "use OffsetPtr<T>")
            self.assert_rejected("struct Bad { std::uint32_t id; double x; };", use, "add an explicit padding field")

    def test_what_the_types_hold(self):
        for holder in ("SimVec<int*> all;", "SimMap<int, int*> all;", "SimMap<int*, int> all;", "SimPool<int*> all;",
                       "SimSet<int*> all;"):
            self.assert_rejected(f"struct Holder {{ {holder} }};",
                                 "heap.bind(heap.get(OffsetPtr<Holder>()).all).clear();", "use OffsetPtr<T>")


if __name__ == "__main__":
    unittest.main()
