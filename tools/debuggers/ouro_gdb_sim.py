"""What ouro_gdb.py shows of handles, of entities and of the simulation types, whose elements lie in an image at offsets
from its start.

The image that a value lies in is found in the table of blocks, which is there in a core too. Of a value elsewhere, as a
copy on a stack, only the numbers are known.
"""

import struct

import gdb


def listed_blocks():
    """The start and the size of each block that the program lists."""
    head = struct.Struct("<8sIIIIQ")
    entry = struct.Struct("<IHBxQQ")
    try:
        table = int(gdb.parse_and_eval("(unsigned long)&ouro_block_table"))
        inferior = gdb.selected_inferior()
        magic, _, entry_bytes, capacity, used, _ = head.unpack(inferior.read_memory(table, head.size).tobytes())
        if not magic.startswith(b"ouroblk") or entry_bytes < entry.size:
            return
        for index in range(min(used, capacity)):
            place = table + head.size + index * entry_bytes
            generation, _, _, base, size = entry.unpack(inferior.read_memory(place, entry.size).tobytes())
            if generation % 2 and base:
                yield base, size
    except gdb.error:
        return


def image_around(address):
    """The start of the image that holds the address: the smallest block around it. None outside of all."""
    around = [(size, base) for base, size in listed_blocks() if base <= address < base + size]
    return min(around)[1] if around else None


def image_of(value):
    try:
        return image_around(int(value.address)) if value.address is not None else None
    except gdb.error:
        return None


def at_address(kind, address):
    return gdb.Value(address).cast(kind.pointer()).dereference()


def argument(value, index):
    return value.type.strip_typedefs().template_argument(index)


def align_up(number, alignment):
    return (number + alignment - 1) // alignment * alignment


def counted(count, one, many):
    return f"{count} {one if count == 1 else many}"


class SimPrinter:
    """Of a stored value, with the image that it lies in."""

    def __init__(self, value, image=None):
        self.value = value
        self.image = image if image is not None else image_of(value)

    def number(self, name):
        return int(self.value[name])

    def offset(self, name):
        return int(self.value[name]["offset_"])

    def elsewhere(self, offset):
        """Behind the counts of a value whose image is not known: where the rest is in it."""
        return "" if self.image is not None or offset == 0 else f", at offset {offset}"


class SimVecPrinter(SimPrinter):
    def to_string(self):
        return (f"{counted(self.number('size_'), 'element', 'elements')}, room for {self.number('capacity_')}" +
                self.elsewhere(self.offset("items_")))

    def children(self):
        if self.image is None:
            return
        item = argument(self.value, 0)
        first = self.image + self.offset("items_")
        for index in range(self.number("size_")):
            yield f"[{index}]", at_address(item, first + index * item.sizeof)

    def display_hint(self):
        return "array"


class SimStringPrinter(SimPrinter):
    def to_string(self):
        characters = self.value["characters_"]
        size = int(characters["size_"])
        if size == 0:
            return '""'
        offset = int(characters["items_"]["offset_"])
        if self.image is None:
            return f"{counted(size, 'character', 'characters')}, at offset {offset}"
        try:
            text = gdb.selected_inferior().read_memory(self.image + offset, size).tobytes()
        except gdb.error:
            return f"{counted(size, 'character', 'characters')} that cannot be read, at offset {offset}"
        return '"' + text.decode("utf-8", "backslashreplace").replace('"', '\\"') + '"'


class FixedStringPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        letters = self.value["text_"]["_M_elems"]
        text = bytes(int(letters[index]) & 255 for index in range(int(self.value["size_"])))
        return '"' + text.decode("utf-8", "backslashreplace").replace('"', '\\"') + '"'


class SimTablePrinter(SimPrinter):
    """Slots, then a bit for each entry that is there, then the entries, in the order in which they were added."""

    def entries(self):
        slots = self.number("slot_count_")
        if self.image is None or slots == 0:
            return
        # Of a map or a set, whose base is the table, or of the table itself.
        table = self.value.type.strip_typedefs()
        table = next((field.type.strip_typedefs() for field in table.fields() if field.is_base_class), table)
        entry = table.template_argument(1)
        capacity = slots // 4 * 3
        live = self.image + self.offset("block_") + 8 * slots
        first = align_up(8 * slots + (capacity + 63) // 64 * 8, max(entry.alignof, 16))
        bits = gdb.selected_inferior().read_memory(live, (capacity + 63) // 64 * 8).tobytes()
        for number in range(min(self.number("used_"), capacity)):
            if bits[number // 8] >> number % 8 & 1:
                yield at_address(entry, self.image + self.offset("block_") + first + number * entry.sizeof)


class SimMapPrinter(SimTablePrinter):
    def to_string(self):
        return counted(self.number("size_"), "entry", "entries") + self.elsewhere(self.offset("block_"))

    def children(self):
        for number, entry in enumerate(self.entries()):
            yield f"[{2 * number}]", entry["key"]
            yield f"[{2 * number + 1}]", entry["value"]

    def display_hint(self):
        return "map"


class SimSetPrinter(SimTablePrinter):
    def to_string(self):
        return counted(self.number("size_"), "key", "keys") + self.elsewhere(self.offset("block_"))

    def children(self):
        for number, entry in enumerate(self.entries()):
            yield f"[{number}]", entry["key"]

    def display_hint(self):
        return "array"


# A place of a SimPool: the number of its chunk, and below it the number within.
PLACE_BITS = 27
FIRST_CHUNK = 16


def count_before(place):
    """Of all places, from zero."""
    chunk = place >> PLACE_BITS
    return (FIRST_CHUNK << chunk) - FIRST_CHUNK + (place & (1 << PLACE_BITS) - 1)


class SimPoolPrinter(SimPrinter):
    """Each object has its generation in front of it, which is odd while it lives."""

    def to_string(self):
        first_chunk = int(self.value["chunks_"]["_M_elems"][0])
        return counted(self.number("size_"), "object", "objects") + self.elsewhere(first_chunk)

    def children(self):
        if self.image is None:
            return
        item = argument(self.value, 0)
        item_at = align_up(8, item.alignof)
        slot_bytes = align_up(item_at + item.sizeof, max(item.alignof, 4))
        generation = gdb.lookup_type("unsigned int")
        used = count_before(self.number("next_"))
        for chunk in range(self.number("chunk_count_")):
            start = self.image + int(self.value["chunks_"]["_M_elems"][chunk])
            before = (FIRST_CHUNK << chunk) - FIRST_CHUNK
            for within in range(min(FIRST_CHUNK << chunk, used - before)):
                slot = start + within * slot_bytes
                if int(at_address(generation, slot)) % 2:
                    yield f"[{before + within}]", at_address(item, slot + item_at)


def stored_of(reference):
    """What is bound to a heap, and where the image of that heap begins."""
    return reference["stored_"].dereference(), int(reference["heap_"]["base_"]["start_"])


class SimVecRefPrinter(SimVecPrinter):
    def __init__(self, value):
        super().__init__(*stored_of(value))


class SimStringRefPrinter(SimStringPrinter):
    def __init__(self, value):
        characters, image = stored_of(value["characters_"])
        super().__init__({"characters_": characters}, image)


class SimMapRefPrinter(SimMapPrinter):
    def __init__(self, value):
        super().__init__(*stored_of(value["table_"]))


class SimSetRefPrinter(SimSetPrinter):
    def __init__(self, value):
        super().__init__(*stored_of(value["table_"]))


class SimPoolRefPrinter(SimPoolPrinter):
    def __init__(self, value):
        super().__init__(*stored_of(value))


class HandlePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        bits = int(self.value["bits_"])
        if bits == 0:
            return "null handle"
        kind = self.value.type.strip_typedefs()
        index_bits = int(kind.template_argument(2))
        index, generation = bits & (1 << index_bits) - 1, bits >> index_bits
        owner = str(kind.template_argument(0))
        if owner == "ouro::EntityTag":
            return f"entity {index}, generation {generation}"
        if owner.startswith("ouro::SimPool<"):
            return f"object {count_before(index)}, generation {generation}"
        return f"slot {index}, generation {generation}"


class OffsetPtrPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        offset = int(self.value["offset_"])
        target = self.value.type.strip_typedefs().template_argument(0)
        if offset == 0:
            return "null offset"
        image = image_of(self.value)
        return f"offset {offset} to {target}" + (f" at {image + offset:#x}" if image is not None else "")


SIM_PRINTERS = {
    "Handle<.*>": HandlePrinter,
    "OffsetPtr<.*>": OffsetPtrPrinter,
    "FixedString<.*>": FixedStringPrinter,
    "SimVec<.*>": SimVecPrinter,
    "SimVecRef<.*>": SimVecRefPrinter,
    "SimString": SimStringPrinter,
    "SimStringRef": SimStringRefPrinter,
    "SimMap<.*>": SimMapPrinter,
    "SimMapRef<.*>": SimMapRefPrinter,
    "SimSet<.*>": SimSetPrinter,
    "SimSetRef<.*>": SimSetRefPrinter,
    "SimPool<.*>": SimPoolPrinter,
    "SimPoolRef<.*>": SimPoolRefPrinter,
}
