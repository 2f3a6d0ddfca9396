"""Usage: valgrind_test.py [<valgrind> <probe>]: Valgrind understands what each strategy hands out.

Without arguments there is none: the test skips.
"""

import concurrent.futures
import os
import subprocess
import sys

FOUND = 9
# What ctest takes for a skip.
SKIPPED = 77
MISTAKES = {"use after free": ("Invalid write of size 1",),
            "overflow": ("Invalid write of size 1",),
            "read before write": ("uninitialised value",)}
# Where the blocks are told one by one, the report knows what was there. The others are told as bytes.
NAMES_BLOCKS = ("frame", "stack", "two-ended stack, front", "two-ended stack, back", "pool", "pool of objects",
                "small objects", "partition", "partition with guards", "partition for any thread")
# What the system gives is zero, a guarded block and an object made without arguments are filled; what lies
# behind a mapping of its own is not ours.
NOT_FOUND = {("system", "overflow"), ("system", "read before write"), ("guarded tlsf", "read before write"),
             ("pool of objects", "read before write")}


def run(valgrind, probe, strategy, mistake):
    return subprocess.run([valgrind, "--error-exitcode=%d" % FOUND, probe, strategy, mistake],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=280)


def complaint(valgrind, probe, strategy, mistake):
    """What is wrong with the outcome, or nothing."""
    result = run(valgrind, probe, strategy, mistake)
    if mistake == "none":
        return "" if result.returncode == 0 else f"{strategy}: a complaint about right use:\n{result.stderr}"
    words = MISTAKES[mistake]
    if mistake == "use after free" and strategy in NAMES_BLOCKS:
        words += ("8 bytes inside a block of size 64 free'd",)
    missing = [word for word in words if word not in result.stderr]
    if result.returncode == FOUND and not missing:
        return ""
    return f"{strategy}, {mistake}: exit code {result.returncode}, without {missing} in\n{result.stderr}"


def main():
    if len(sys.argv) == 1:
        print("skipped: needs valgrind, with its headers")
        sys.exit(SKIPPED)
    valgrind, probe = sys.argv[1:]
    listed = subprocess.run([probe], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    if len(listed) < len(NAMES_BLOCKS):
        sys.exit(f"too few strategies: {listed}")
    tasks = [(strategy, mistake) for strategy in listed for mistake in ("none", *MISTAKES)
             if (strategy, mistake) not in NOT_FOUND]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(lambda task: complaint(valgrind, probe, *task), tasks) if text]
    if complaints:
        sys.exit("\n".join(complaints))


if __name__ == "__main__":
    main()
