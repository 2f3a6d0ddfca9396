"""Usage: valgrind_test.py <valgrind> <probe>: Valgrind understands what frames and stacks hand out."""

import subprocess
import sys

FOUND = 9


def run(valgrind, probe, mistake):
    return subprocess.run([valgrind, "--error-exitcode=%d" % FOUND, "--undef-value-errors=yes", probe, mistake],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=200)


def main():
    valgrind, probe = sys.argv[1:]
    clean = run(valgrind, probe, "none")
    if clean.returncode != 0:
        sys.exit("Valgrind complains about right use:\n" + clean.stderr)
    for mistake, words in (("use after reset", ("Invalid write of size 1", "8 bytes inside a block of size 64 free'd")),
                           ("use after pop", ("Invalid write of size 1", "8 bytes inside a block of size 64 free'd")),
                           ("overflow", ("Invalid write of size 1",)),
                           ("read before write", ("uninitialised value",))):
        result = run(valgrind, probe, mistake)
        missing = [word for word in words if word not in result.stderr]
        if result.returncode != FOUND or missing:
            sys.exit(f"{mistake}: exit code {result.returncode}, without {missing} in\n{result.stderr}")


if __name__ == "__main__":
    main()
