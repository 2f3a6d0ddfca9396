"""Usage: report_size_test.py <nm> <library>: what prints reports, which most programs never do, is little code."""

import subprocess
import sys

MOST_BYTES = 2048
PRINTERS = ("ouro::print_memory_error(", "ouro::print_call_sites(", "ouro::LeakReport::print(")


def main():
    nm, library = sys.argv[1:]
    symbols = subprocess.run([nm, "--demangle", "--print-size", library], check=True, stdout=subprocess.PIPE,
                             text=True).stdout
    sizes = {}
    for line in symbols.split("\n"):
        words = line.split(maxsplit=3)
        if len(words) == 4 and words[2] in "TtWw":
            for printer in PRINTERS:
                if words[3].startswith(printer):
                    sizes[printer] = sizes.get(printer, 0) + int(words[1], 16)
    if len(sizes) != len(PRINTERS):
        sys.exit(f"{library} lacks some of {PRINTERS}; found {sizes}")
    large = {printer: size for printer, size in sizes.items() if size > MOST_BYTES}
    if large:
        sys.exit(f"more than {MOST_BYTES} bytes of code: {large}; keep ErrorText out of line")


if __name__ == "__main__":
    main()
