"""Usage: fault_hook_test.py <nm> <library> <0|1>: the hook that makes system calls fail is there only if asked."""

import subprocess
import sys


def main():
    nm, library, wanted = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
    symbols = subprocess.run([nm, "--demangle", library], check=True, stdout=subprocess.PIPE, text=True).stdout
    if " T " not in symbols:
        sys.exit(f"{library} defines no function at all; nm read the wrong file")
    hooks = [line for line in symbols.split("\n") if "fault_injection" in line and not line.endswith(".o:")]
    if wanted and not hooks:
        sys.exit(f"{library} was built with OURO_FAULT_INJECTION but has no symbol named fault_injection")
    if hooks and not wanted:
        sys.exit(f"{library} was built without OURO_FAULT_INJECTION but has its symbols:\n" + "\n".join(hooks))


if __name__ == "__main__":
    main()
