"""Usage: direct_calls_test.py <objdump> <object>: a strategy used by its own type is not called through a table.

The object has functions <strategy>_allocate and <strategy>_deallocate (hot_paths.cpp). None of them may call through
an address, and each calls only what is named here: the ways out of the common path, or the one call where that is not
inline.
"""

import re
import subprocess
import sys

# Broken contracts, and failures that are made into a value.
RARE = {"ouro::assert_failed", "ouro::detail::block_assert_failed", "__clang_call_terminate",
        "ouro::Expected<ouro::MemoryBlock>::Expected"}
TAGGED = {"ouro::detail::TaggedResource::fail", "ouro::detail::TaggedResource::tell",
          "ouro::detail::UseCounter::reserve_below", "ouro::detail::UseCounter::release",
          "ouro::RateGate::admit_counted"}


def charged(below):
    """Of what a ChargedAllocator on a resource of that type leaves the common path for.

    clang makes one call of it, by its type; forced to be inline everywhere it took gcc 11 instructions more a pair.
    """
    resource = f"ouro::ChargedAllocator<{below}, true>"
    ways = {f"{resource}::{name}" for name in ("allocate", "deallocate", "allocate_specially", "deallocate_specially",
                                               "fail", "give_up")}
    return ways | {"ouro::detail::deferred_charge", "ouro::detail::sampled_charge", "ouro::detail::refund_slow",
                   "ouro::detail::settle_slow"}


COLD = {
    "frame": {"ouro::BumpRange::take_slow"},
    "stack": {"ouro::BumpRange::take_slow", "ouro::StackAllocator::allocate_unusual"},
    "end": {"ouro::TwoEndedStack::End::allocate_slow", "ouro::TwoEndedStack::End::noted_cursor"},
    "pool": {"ouro::PoolCore::take_slow", "ouro::PoolCore::give_back_slow", "ouro::PoolCore::give_back_remotely",
             "ouro::PoolCore::refuse"},
    "local_pool": {"ouro::PoolCore::take_slow", "ouro::PoolCore::give_back_slow", "ouro::PoolCore::refuse"},
    "small": {"ouro::SmallObjectAllocator::allocate_slow", "ouro::SmallObjectAllocator::deallocate_slow"},
    # Small blocks that were kept are found inline; to keep one, clang makes a call.
    "tlsf": {"ouro::TlsfHeap::allocate_units", "ouro::TlsfHeap::allocate_unusual", "ouro::TlsfHeap::deallocate",
             "ouro::TlsfHeap::deallocate_units", "ouro::TlsfAllocator::allocate_anywhere",
             "ouro::TlsfAllocator::deallocate_anywhere"},
    "partition": {"ouro::Partition::allocate_slow", "ouro::Partition::deallocate_slow"},
    "arena": {"ouro::HugePageArena::allocate_slow", "ouro::HugePageArena::note_peak"},
    # Of a type that is known: budgets, rates, failures and observers are out of line.
    "tagged_small": TAGGED | {"ouro::SmallObjectAllocator::allocate_slow",
                              "ouro::SmallObjectAllocator::deallocate_slow"},
    "tagged_pool": TAGGED | {"ouro::PoolCore::take_slow", "ouro::PoolCore::give_back_slow",
                             "ouro::PoolCore::refuse"},
    "charged_small": charged("ouro::SmallObjectAllocator") | {"ouro::SmallObjectAllocator::allocate_slow",
                                                              "ouro::SmallObjectAllocator::deallocate_slow"},
    "charged_pool": charged("ouro::BasicPoolAllocator<0>") | {"ouro::PoolCore::take_slow",
                                                              "ouro::PoolCore::give_back_slow",
                                                              "ouro::PoolCore::refuse"},
    # Of any: one call, which asks the resource below by its table.
    "tagged": {"ouro::BasicTaggedAllocator<ouro::MemoryResource>::allocate",
               "ouro::BasicTaggedAllocator<ouro::MemoryResource>::deallocate"},
    "chain": {"ouro::FallbackChain::allocate", "ouro::FallbackChain::deallocate"},
    "system": {"ouro::SystemAllocator::allocate", "ouro::SystemAllocator::deallocate"},
}
INDIRECT = re.compile(r"^(notrack )?(call|jmp)q?\s+\*|^(blr|br)\b")
JUMP = re.compile(r"^(call|j[a-z]+|bl|b|b\.\w+)q?\s")


def functions_of(listing):
    """By name: the instructions, each with what it calls or jumps to."""
    functions = {}
    name = None
    for line in listing.splitlines():
        head = re.match(r"^[0-9a-f]+ <(.+)>:$", line)
        if head:
            name = head.group(1)
            functions[name] = []
            continue
        relocation = re.match(r"^\s+[0-9a-f]+: R_\S+\s+(.+)$", line)
        body = re.match(r"^\s*[0-9a-f]+:\s+(\S.*)$", line)
        if name is None or not body:
            continue
        instructions = functions[name]
        if relocation:
            # The place that the instruction shows is none then.
            if instructions and JUMP.match(instructions[-1][0]):
                instructions[-1][1] = re.sub(r"([-+]0x[0-9a-f]+)$", "", relocation.group(1))
            continue
        local = re.search(r"<(.+?)(\+0x[0-9a-f]+)?>$", body.group(1))
        is_jump = local and JUMP.match(body.group(1))
        instructions.append([body.group(1), local.group(1) if is_jump else None])
    return functions


def plain_name(target):
    """Without its arguments, and of template arguments that are enumerators the number alone."""
    return re.sub(r"\(ouro::\w+\)(\d)", r"\1", target).split("(")[0]


def complaints_about(name, allowed, functions, seen):
    """Of the function and of the parts that the compiler made of it."""
    if name in seen:
        return []
    seen.add(name)
    found = [f"{name}: {each}" for each, _ in functions[name] if INDIRECT.match(each)]
    for target in sorted({target for _, target in functions[name] if target}):
        plain = plain_name(target)
        if target in functions and (target.startswith(name) or "[clone" in target):
            found += complaints_about(target, allowed, functions, seen)
        elif plain not in allowed and not target.startswith("."):
            found.append(f"{name}: calls {target}")
    # Named by their section where they are jumped to.
    if f"{name}.cold" in functions:
        found += complaints_about(f"{name}.cold", allowed, functions, seen)
    return found


def main():
    objdump, program = sys.argv[1:]
    listing = subprocess.run([objdump, "-d", "-r", "-C", "--no-show-raw-insn", program], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    functions = functions_of(listing)
    found = [f"{name}: nothing is said here of what it may call" for name in functions
             if name.endswith("_allocate") and name.removesuffix("_allocate") not in COLD]
    for strategy, cold in COLD.items():
        ways_out = set()
        for name in (f"{strategy}_allocate", f"{strategy}_deallocate"):
            if not functions.get(name):
                sys.exit(f"{name} is not there; the wrong thing was read")
            seen = set()
            found += complaints_about(name, cold | RARE, functions, seen)
            for part in seen:
                ways_out |= {plain_name(target) for _, target in functions[part] if target}
        if not ways_out & cold:
            found.append(f"{strategy}: no way out of the common path; the wrong thing was read")
    if found:
        sys.exit("calls where there should be none:\n  " + "\n  ".join(found))


if __name__ == "__main__":
    main()
