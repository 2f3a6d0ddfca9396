"""Usage: dump_test.py <ouro> <sample program>: `ouro dump` on saved images, on a program that runs, and on neither."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from stopped_program import StoppedProgram

OURO = os.path.realpath(sys.argv.pop(1))
SAMPLE = os.path.realpath(sys.argv.pop(1))


def dump(*arguments):
    return subprocess.run([OURO, "dump", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, encoding="utf-8", timeout=120)


class Sample(StoppedProgram):
    def __init__(self, folder):
        super().__init__(SAMPLE, folder)
        self.await_ready()


class Dump(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with Sample(cls.folder.name) as sample:
            cls.live = {
                "text": dump(sample.number),
                "json": dump(sample.number, "--json", "--entity", "0"),
                "tick": dump(sample.number, "--tick", 3),
                "svg": dump(sample.number, "--svg", "-", "--samples", 2, "--interval", 0),
            }

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def image(self, number):
        return os.path.join(self.folder.name, f"{number}.image")

    def assert_refused(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertTrue(result.stderr.startswith("ouro"), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_text(self):
        result = dump(self.image(0))
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ('world "town"', "3702 entities", "Story", "cold", "3000 rows of 4096 (73%): Place, Speed",
                      "Place, Asleep", "layout 0x"):
            self.assertIn(words, result.stdout)
        self.assertNotIn("entity 0:1", result.stdout)

    def test_an_entity_alone(self):
        result = dump(self.image(0), "--entity", "0:1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("entity 0:1"), result.stdout)
        for words in ('"Ada came first"', "1.5"):
            self.assertIn(words, result.stdout)
        for words in ("archetypes", "3702", "Asleep"):
            self.assertNotIn(words, result.stdout)

    def test_one_of_several_ticks(self):
        first = json.loads(dump(self.image(0), "--json").stdout)["tick"]
        files = [self.image(number) for number in range(3)]
        for number, x in enumerate((1.5, 2, 2.5)):
            told = json.loads(dump(*files, "--tick", first + number, "--json", "--entity", 0).stdout)
            self.assertEqual(told["tick"], first + number)
            self.assertEqual(told["entity"]["components"]["Place"]["x"], x)
        self.assert_refused(dump(*files, "--tick", 999), 1, "none of the images is of tick 999",
                            f"{first}, {first + 1}, {first + 2}", "ouro::save_world(*world.at(ring_tick), path)")
        self.assert_refused(self.live["tick"], 1, f"the process is in tick {first + 2}",
                            "ouro::save_world(*world.at(ring_tick), path)", "--tick 3")

    def test_an_entity_by_its_name(self):
        by_name = dump(self.image(0), "--entity", "Ada L.")
        self.assertEqual(by_name.returncode, 0, by_name.stderr)
        self.assertEqual(by_name.stdout, dump(self.image(0), "--entity", 0).stdout)
        self.assertIn("entity 0:1", by_name.stdout)

    def test_json(self):
        told = json.loads(dump(self.image(2), "--json").stdout)
        self.assertEqual(told["slots"]["live"], 3701)
        self.assertEqual(told["slots"]["next_free"], [1])
        self.assertEqual(sum(each["rows"] for each in told["archetypes"]), 3701)
        told = json.loads(dump(self.image(2), "--json", "--entity", 0).stdout)
        self.assertEqual(told["entity"]["components"]["Place"], {"x": 2.5, "y": 2})
        self.assertEqual(told["entity"]["components"]["Story"], {"text": "Ada came first"})
        self.assertNotIn("archetypes", told)

    def test_a_running_program(self):
        self.assertEqual(self.live["text"].returncode, 0, self.live["text"].stderr)
        self.assertIn("3701 entities", self.live["text"].stdout)
        told = json.loads(self.live["json"].stdout)
        self.assertEqual(told["entity"]["components"]["Place"], {"x": 2.5, "y": 2})
        self.assertIn("</svg>", self.live["svg"].stdout)

    def test_what_changed(self):
        result = dump(self.image(2), "--against", self.image(1))
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[:2], ["0:1 Place.x 2 -> 2.5", "1:1 destroyed"])
        self.assertIn("2:1 Place.y 2 -> 3", lines)
        self.assertEqual(lines[-1], "6002 differences")
        self.assertEqual(dump(self.image(1), "--against", self.image(1)).stdout, "0 differences\n")

    def test_what_changed_of_one(self):
        result = dump(self.image(2), "--against", self.image(1), "--entity", "0:1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "0:1 Place.x 2 -> 2.5\n1 difference\n")
        self.assertEqual(dump(self.image(2), "--against", self.image(1), "--entity", "Ada L.").stdout, result.stdout)
        gone = dump(self.image(2), "--against", self.image(1), "--entity", 1)
        self.assertEqual(gone.stdout, "1:1 destroyed\n1 difference\n")
        self.assert_refused(dump(self.image(2), "--against", self.image(1), "--entity", 99999), 1, "no entity 99999")

    def test_several_images_need_a_choice(self):
        several = [self.image(number) for number in range(3)]
        self.assert_refused(dump(*several), 2, "--tick <world tick> chooses one")
        self.assert_refused(dump(*several, "--against", self.image(0)), 2, "one image is shown at a time")
        self.assert_refused(dump(*several, "--entity", 0, "--svg", "-"), 2, "--entity excludes --svg")

    def test_a_drawing(self):
        path = os.path.join(self.folder.name, "world.svg")
        result = dump(*(self.image(number) for number in range(3)), "--svg", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith(f"wrote '{path}', {os.path.getsize(path)} bytes"), result.stdout)
        self.assertIn("2.image', tick", result.stdout)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        xml.etree.ElementTree.fromstring(text)
        for words in ("town, tick", "written in none to all of 2 ticks", "archetype 0", "Story"):
            self.assertIn(words, text)

    def test_another_layout(self):
        foreign = dump(os.path.join(self.folder.name, "foreign.image"))
        self.assert_refused(foreign, 1, "is laid out as 0x0000000000000077 (version 2); this program reads 0x")

    def test_mistakes(self):
        self.assert_refused(dump(), 2, "ouro dump <file or number>")
        self.assert_refused(dump("no such file"), 1, "there is no file 'no such file'", "ouro::save_world(world, path)")
        self.assert_refused(dump(self.folder.name), 1, "is a folder")
        self.assert_refused(dump(OURO), 1, "is no saved image")
        self.assert_refused(dump(os.getpid()), 1)
        self.assert_refused(dump(self.image(0), "--entity", "99999"), 1, "there is no entity 99999")
        self.assert_refused(dump(self.image(0), "--entity", "0:7"), 1, "there is no entity 0:7")
        self.assert_refused(dump(self.image(0), "--entity", "Ada"), 1, "is no entity's name", "<slot>:<generation>")
        self.assert_refused(dump(self.image(0), "--segment", "village"), 1, "no world in a segment 'village'")
        self.assert_refused(dump(self.image(0), "--json", "--svg", "-"), 2)
        cut = os.path.join(self.folder.name, "cut.image")
        with open(self.image(0), "rb") as whole, open(cut, "wb") as part:
            part.write(whole.read()[:10000])
        self.assert_refused(dump(cut), 1, "damaged or cut off")


if __name__ == "__main__":
    unittest.main()
