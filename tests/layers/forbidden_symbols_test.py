"""Usage: forbidden_symbols_test.py <nm> <library>...: nothing in modules/ throws or takes memory from the heap."""

import re
import subprocess
import sys

# What a compiled throw or a hidden allocation refers to, as nm prints it without demangling.
FORBIDDEN = re.compile(r"^(__cxa_throw|__cxa_allocate_exception|_ZSt\d+__throw_\w*|_Zn[wa]\w*|_Zd[la]\w*"
                       r"|malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup)$")


def forbidden_in(nm, library):
    listing = subprocess.run([nm, "--undefined-only", "--print-file-name", library], check=True,
                             stdout=subprocess.PIPE, text=True).stdout.splitlines()
    if not listing:
        sys.exit(f"{library} refers to nothing at all; nm read the wrong file")
    return [line for line in listing if FORBIDDEN.match(line.split()[-1].split("@")[0])]


def main():
    nm, libraries = sys.argv[1], sys.argv[2:]
    for sample in ("_Znwm", "_ZdlPv", "_ZSt24__throw_out_of_range_fmtPKcz", "__cxa_throw", "malloc"):
        assert FORBIDDEN.match(sample), sample
    for sample in ("_ZN4ouro2os4openEv", "mmap", "_ZN4ouro13assert_failedEPKcS1_S1_j"):
        assert not FORBIDDEN.match(sample), sample
    found = [line for library in libraries for line in forbidden_in(nm, library)]
    if found:
        sys.exit("modules/ may neither throw nor allocate behind the caller's back:\n" + "\n".join(found))


if __name__ == "__main__":
    main()
