"""Usage: same_code_test.py <objdump> <object>: what is compiled out leaves the instructions of the bare resource.

For each function <kind>_bare of the object there is one <kind>_wrapped, which must be the same.
"""

import re
import subprocess
import sys


def instructions_of(listing):
    """By function: the instructions without the targets of jumps, sorted, since independent ones may change places."""
    functions = {}
    for line in listing.splitlines():
        head = re.match(r"^[0-9a-f]+ <([^>]+)>:$", line)
        if head:
            name = head.group(1)
            functions[name] = []
            continue
        body = re.match(r"^\s*[0-9a-f]+:\s+(\S.*)$", line)
        # Padding and relocations say where things are, not what is done.
        if body and functions and not re.search(r"^R_|nop", body.group(1)):
            functions[name].append(re.sub(r"\b[0-9a-f]+ <[^>]*>", "<place>", body.group(1)))
    return {name: sorted(instructions) for name, instructions in functions.items()}


def main():
    objdump, program = sys.argv[1:]
    listing = subprocess.run([objdump, "-d", "-r", "--no-show-raw-insn", program], check=True, stdout=subprocess.PIPE,
                             text=True).stdout
    functions = instructions_of(listing)
    kinds = [name.removesuffix("_bare") for name in functions if name.endswith("_bare")]
    if not kinds:
        sys.exit("there is nothing to compare; the wrong thing was read")
    for kind in kinds:
        bare, wrapped = functions[f"{kind}_bare"], functions[f"{kind}_wrapped"]
        if len(bare) < 5:
            sys.exit(f"{kind}_bare has {len(bare)} instructions; the wrong thing was read")
        if bare != wrapped:
            sys.exit(f"{kind}: what is compiled out is not free\nbare:\n  " + "\n  ".join(bare) + "\nwrapped:\n  " +
                     "\n  ".join(wrapped))


if __name__ == "__main__":
    main()
