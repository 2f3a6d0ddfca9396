"""Usage: natvis_test.py <source tree>: the views for Visual Studio are well-formed and speak of types and members
that exist. What they show is for that debugger to prove."""

import glob
import os
import re
import sys
import unittest
import xml.etree.ElementTree

ROOT = os.path.realpath(sys.argv.pop(1))
NAMESPACE = "{http://schemas.microsoft.com/vstudio/debugger/natvis/2010}"
# Of the standard library, and of the language.
OTHER_WORDS = {"ouro", "unsigned", "void", "Status", "ok", "i", "en", "bb", "_Elems", "__int64", "char", "s8"}


def read_headers():
    paths = glob.glob(os.path.join(ROOT, "modules", "*", "include", "**", "*.hpp"), recursive=True)
    texts = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    return "\n".join(texts)


def expressions(element):
    for part in element.iter():
        if part.get("Condition"):
            yield part.get("Condition")
        text = (part.text or "").strip()
        if part.tag == NAMESPACE + "DisplayString":
            yield from re.findall(r"\{([^}]*)\}", text)
        elif text:
            yield text


class Natvis(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.headers = read_headers()
        cls.root = xml.etree.ElementTree.parse(os.path.join(ROOT, "tools", "debuggers", "ouroboros.natvis")).getroot()
        cls.types = cls.root.findall(NAMESPACE + "Type")

    def test_there_are_views(self):
        self.assertEqual(self.root.tag, NAMESPACE + "AutoVisualizer")
        self.assertGreater(len(self.types), 10)

    def test_every_type_exists(self):
        for view in self.types:
            name = re.fullmatch(r"ouro::(\w+)(<.*>)?", view.get("Name"))
            self.assertIsNotNone(name, view.get("Name"))
            template = r"^(template <.*>\n(    requires .*\n)?)?"
            found = re.search(template + rf"(class|struct) (\[\[nodiscard\]\] )?{name[1]}\b", self.headers,
                              re.MULTILINE)
            self.assertIsNotNone(found, name[1])
            self.assertEqual(bool(name[2]), bool(found[1]), name[1])

    def test_every_member_exists(self):
        for view in self.types:
            for expression in expressions(view):
                for word in re.findall(r"(?<![\w$])[A-Za-z_]\w*", expression):
                    known = word in OTHER_WORDS or view.get("Name").find(f"::{word}") >= 0 or \
                        re.search(rf"\b{word}(\{{|;| = |, )", self.headers)
                    self.assertTrue(known, f"{view.get('Name')}: '{word}' in '{expression}'")

    def test_the_same_types_as_in_gdb(self):
        in_gdb = set()
        for name in ("ouro_gdb.py", "ouro_gdb_sim.py"):
            with open(os.path.join(ROOT, "tools", "debuggers", name), encoding="utf-8") as file:
                listed = re.search(r"^(SIM_)?PRINTERS = \{(.*?)\n\}", file.read(), re.DOTALL | re.MULTILINE)[2]
            in_gdb.update(re.findall(r'"(\w+)', listed))
        self.assertEqual(in_gdb, {re.match(r"ouro::(\w+)", view.get("Name"))[1] for view in self.types})


if __name__ == "__main__":
    unittest.main()
