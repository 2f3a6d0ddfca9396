"""Shows the types of Ouroboros in gdb as what they mean, and adds the command `ouro-tags`.

In gdb: `source tools/debuggers/ouro_gdb.py`, or the same line in ~/.gdbinit; installed, it is in share/ouroboros.
"""

import os
import re
import sys

import gdb
import gdb.printing

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# Beside this file: sourced again after a change, both are read anew.
sys.modules.pop("ouro_gdb_sim", None)
from ouro_gdb_sim import SIM_PRINTERS  # noqa: E402


def pointed_at(pointer, count):
    """Numbered children, the elements from the pointer on."""
    for index in range(count):
        yield f"[{index}]", (pointer + index).dereference()


def status_name(value):
    """The enumerator without its scope."""
    return str(value).rsplit("::", 1)[-1]


def bytes_text(count):
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if size == int(size) else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


class MemoryBlockPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        if int(self.value["data"]) == 0:
            return "no block"
        return f"{int(self.value['size'])} bytes at {int(self.value['data']):#x}"


class ExpectedPrinter:
    def __init__(self, value):
        self.value = value
        names = [field.name for field in value.type.fields()]
        self.block = value["block_"] if "block_" in names else None
        self.has_member = any(field.name is None or field.name == "value_" for field in value.type.fields())

    def status(self):
        if self.block is None:
            return status_name(self.value["status_"])
        if int(self.block["data"]) != 0:
            return "ok"
        return status_name(self.block["size"].cast(gdb.lookup_type("ouro::Status")))

    def to_string(self):
        status = self.status()
        return status if status == "ok" else f"failed: {status}"

    def children(self):
        if self.status() != "ok":
            return
        if self.block is not None:
            yield "value", self.block
        elif self.has_member:
            yield "value", self.value["value_"]


class TagPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        tag = int(self.value["id_"])
        if tag == 0:
            return "untagged"
        try:
            account = account_of(tag)
        except (gdb.error, LookupError):
            account = None
        return f"{account.member('name').text()} (tag {tag})" if account else f"tag {tag}"


class PooledVectorPrinter:
    def __init__(self, value):
        self.value = value
        self.count = int(value["end_"] - value["begin_"])

    def to_string(self):
        capacity = int(self.value["limit_"] - self.value["begin_"])
        return f"{self.count} elements, room for {capacity}"

    def children(self):
        return pointed_at(self.value["begin_"], self.count)

    def display_hint(self):
        return "array"


class RingBufferPrinter:
    def __init__(self, value):
        self.value = value
        self.slots = int(value["limit_"] - value["slots_"])
        self.count = int(value["tail_"] - value["head_"]) % max(self.slots, 1)

    def to_string(self):
        return f"{self.count} elements, room for {self.slots - 1}"

    def children(self):
        head = int(self.value["head_"] - self.value["slots_"])
        for index in range(self.count):
            yield f"[{index}]", (self.value["slots_"] + (head + index) % self.slots).dereference()

    def display_hint(self):
        return "array"


def set_bits(words):
    for place, word in enumerate(words):
        for bit in range(64):
            if word >> bit & 1:
                yield 64 * place + bit


class BitSetPrinter:
    def __init__(self, value):
        self.value = value
        self.bits = self.size()

    def size(self):
        return int(self.value["size_"])

    def words(self):
        return [int(self.value["words_"][index]) for index in range((self.bits + 63) // 64)]

    def to_string(self):
        found = list(set_bits(self.words()))
        return f"{len(found)} of {self.bits} bits: {{{', '.join(map(str, found))}}}"


class FixedBitSetPrinter(BitSetPrinter):
    def size(self):
        return int(self.value.type.strip_typedefs().template_argument(0))

    def words(self):
        words = self.value["words_"]["_M_elems"]
        return [int(words[index]) for index in range((self.bits + 63) // 64)]


class BitFlagsPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        names = self.value.type.strip_typedefs().template_argument(0)
        set_flags = [status_name(gdb.Value(bit).cast(names)) for bit in set_bits([int(self.value["word_"])])]
        return "{" + ", ".join(set_flags) + "}"


class StringInternerPrinter:
    def __init__(self, value):
        self.texts = value["texts_"]
        self.count = int(self.texts["end_"] - self.texts["begin_"])

    def to_string(self):
        return f"{self.count} texts"

    def children(self):
        return pointed_at(self.texts["begin_"], self.count)

    def display_hint(self):
        return "array"


def tuple_members(value):
    """The members of a std::tuple of libstdc++, by their number."""
    members = {}
    for field in value.type.strip_typedefs().fields():
        if not field.is_base_class:
            continue
        base = value[field]
        head = re.match(r"std::_Head_base<(\d+)", field.name)
        if head:
            members[int(head.group(1))] = base["_M_head_impl"]
        else:
            members.update(tuple_members(base))
    return members


class SoaBlockPrinter:
    def __init__(self, value):
        self.value = value
        self.count = int(value["count_"])

    def to_string(self):
        return f"{self.count} rows, room for {int(self.value['capacity_'])}"

    def children(self):
        for index, column in sorted(tuple_members(self.value["columns_"]).items()):
            if self.count:
                # An array in the column's memory, so that gdb cuts long ones.
                rows = column.type.target().array(self.count - 1)
                yield f"column {index}", column.cast(rows.pointer()).dereference()


PRINTERS = {
    "MemoryBlock": MemoryBlockPrinter,
    "Expected<.*>": ExpectedPrinter,
    "Tag": TagPrinter,
    "PooledVector<.*>": PooledVectorPrinter,
    "RingBuffer<.*>": RingBufferPrinter,
    "BitSet": BitSetPrinter,
    "FixedBitSet<.*>": FixedBitSetPrinter,
    "BitFlags<.*>": BitFlagsPrinter,
    "StringInterner": StringInternerPrinter,
    "SoaBlock<.*>": SoaBlockPrinter,
}


# The ledger. It is large, so that its memory is read at once and taken apart here.


class Record:
    """A struct in the program's memory, by what gdb knows of its type."""

    def __init__(self, record_type, address):
        self.type = record_type.strip_typedefs()
        self.address = address

    def member(self, *names):
        """The first that there is of these."""
        field = next(field for name in names for field in self.type.fields() if field.name == name)
        return Record(field.type, self.address + field.bitpos // 8)

    def array(self):
        """Of a std::array: its first element, and how many there are."""
        inner = next(field for field in self.type.fields() if hasattr(field, "bitpos"))
        inner_type = inner.type.strip_typedefs()
        return Record(inner_type.target(), self.address), inner_type.range()[1] + 1

    def at(self, index):
        return Record(self.type, self.address + index * self.type.sizeof)

    def bytes(self, count=1):
        return gdb.selected_inferior().read_memory(self.address, count * self.type.sizeof).tobytes()

    def number(self):
        """Of a plain number, or an atomic one in whatever library's wrapping: nothing else is in it."""
        return int.from_bytes(self.bytes(), "little", signed=self.type.sizeof == 8)

    def numbers(self):
        """Of a std::array of them."""
        first, count = self.array()
        size = first.type.sizeof
        whole = first.bytes(count)
        return [int.from_bytes(whole[at:at + size], "little") for at in range(0, len(whole), size)]

    def text(self):
        first, count = self.array()
        return first.bytes(count).split(b"\0", 1)[0].decode("utf-8", "replace")


def find_image():
    """The image of the program, running or as its core left it. Raises LookupError with what to do."""
    try:
        image_type = gdb.lookup_type("ouro::detail::ObserveImage")
    except gdb.error:
        raise LookupError("gdb knows nothing of the records' types: it has no program, or a stripped one") from None
    try:
        place = gdb.parse_and_eval("&'ouro::detail::(anonymous namespace)::g_image'")
        address = Record(gdb.lookup_type("unsigned long"), int(place)).number()
    except gdb.error:
        raise LookupError("the program does not run, or was not linked with ouroboros::observe") from None
    if address == 0:
        raise LookupError("nothing was charged to a tag so far")
    return Record(image_type, address)


def account_of(tag):
    """Of an open one, otherwise none."""
    first, count = find_image().member("ledger").member("accounts").array()
    account = first.at(tag) if tag < count else None
    return account if account and account.member("is_open").number() else None


class TagUse:
    """What the ledger says of one tag; of those below it as well once they are added."""

    def __init__(self, account, cells):
        self.name = account.member("name").text()
        self.parent = account.member("parent").number()
        self.soft = account.member("soft").number()
        self.hard = account.member("hard").number()
        self.peak = account.member("peak").number()
        self.failures = sum(account.member("failures").numbers())
        self.live = self.blocks = 0
        for cell, slow in cells:
            lead = cell.member("allowance").number() - cell.member("allocated").number()
            self.live += slow.member("granted").number() - lead
            self.blocks += cell.member("allocations").number() - cell.member("frees").number()
        self.below = []

    def add(self, other):
        self.live += other.live
        self.blocks += other.blocks
        self.failures += other.failures
        self.below.append(other)


def open_accounts(ledger):
    first, count = ledger.member("accounts").array()
    whole = first.bytes(count)
    is_open = first.member("is_open").address - first.address
    for tag in range(count):
        if whole[tag * first.type.sizeof + is_open]:
            yield tag, first.at(tag)


def read_ledger():
    ledger = find_image().member("ledger")
    first, most_shards = ledger.member("shards").array()
    shards = [first.at(index) for index in range(min(ledger.member("used_shards").number(), most_shards))]
    uses = {}
    for tag, account in open_accounts(ledger):
        uses[tag] = TagUse(account, [(shard.member("cells").array()[0].at(tag),
                                      shard.member("slow_cells").array()[0].at(tag)) for shard in shards])
    if 0 not in uses:
        raise LookupError("nothing was charged to a tag so far")
    for tag in sorted(uses, reverse=True):
        # A parent has the smaller number; in a damaged image it may have any.
        parent = uses[tag].parent
        if tag != 0:
            uses[parent if parent < tag and parent in uses else 0].add(uses[tag])
    return uses[0]


class TagsCommand(gdb.Command):
    """Print how much memory is in use under each tag, with budgets and peaks: ouro-tags"""

    UNBOUNDED = (1 << 63) - 1

    def __init__(self):
        super().__init__("ouro-tags", gdb.COMMAND_DATA)

    def bound(self, value):
        return "-" if value == self.UNBOUNDED else bytes_text(value)

    def print_use(self, use, depth):
        name = "  " * depth + (use.name if depth else "everything")
        # A thread that is stopped may not have raised the peak yet.
        peak = max(use.peak, use.live)
        print(f"{name:32} {bytes_text(use.live):>10} {bytes_text(peak):>10} "
              f"{self.bound(use.soft):>10} {self.bound(use.hard):>10} {use.blocks:>10} {use.failures:>9}")
        for below in sorted(use.below, key=lambda tag: -tag.live):
            self.print_use(below, depth + 1)

    def invoke(self, _argument, _from_tty):
        try:
            everything = read_ledger()
        except LookupError as error:
            raise gdb.GdbError(f"ouro-tags: {error}") from None
        print(f"{'tag':32} {'live':>10} {'peak':>10} {'soft':>10} {'hard':>10} {'blocks':>10} {'failures':>9}")
        self.print_use(everything, 0)


def make_printers():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("ouroboros")
    for name, printer in {**PRINTERS, **SIM_PRINTERS}.items():
        printers.add_printer(name, f"^ouro::{name}$", printer)
    return printers


gdb.printing.register_pretty_printer(gdb.current_objfile(), make_printers(), replace=True)
TagsCommand()
