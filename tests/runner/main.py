"""Runs the style check and every configuration; the last line is the count. Called by ./test."""

import argparse
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from configurations import Configuration, build_failed  # noqa: E402
from features import missing_by_list, missing_natively, native_features  # noqa: E402
from results import Tally  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
ALL = (("release", "gcc -O3, every test"), ("clang", "clang -O3"), ("asan", "ASan and UBSan"),
       ("tsan", "TSan, concurrent tests"), ("o0", "gcc -O0, golden hashes"), ("wasm", "wasm32 with workers"))
QUICK = ALL[:1]


def report(name, tally, seconds):
    for test, text in tally.failures:
        print(f"FAILED {name}: {test}")
        print("    " + text.replace("\n", "\n    "))
    for test, reason in tally.skips:
        print(f"skipped {name}: {test}: {reason}")
    print(f"{name}: {tally.last_line()} ({seconds:.0f} s)", flush=True)


def check_style():
    result = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "style-check")], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    tally = Tally()
    if result.returncode == 0:
        tally.passed = 1
        print(result.stdout, end="")
    else:
        tally.fail("tools/style-check", result.stdout.rstrip())
    return tally


def run_configuration(preset, options):
    configuration = Configuration(ROOT, preset, options.filter, options.mode == "long")
    if not configuration.build():
        return build_failed(preset)
    if preset == "wasm":
        is_missing = missing_by_list(os.path.join(ROOT, "tests", "wasm-missing-features.txt"))
    else:
        is_missing = missing_natively(native_features(os.path.join(ROOT, "build", "release", "apps", "ouro", "ouro")))
    return configuration.run_tests(is_missing)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=("full", "quick", "long"), default="full")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()

    steps = [] if options.filter else [("style", "formatting, lengths, includes, names", check_style)]
    for preset, what in QUICK if options.mode == "quick" else ALL:
        steps.append((preset, what, lambda preset=preset: run_configuration(preset, options)))

    total, started = Tally(), time.monotonic()
    for number, (name, what, step) in enumerate(steps, 1):
        print(f"[{number}/{len(steps)}] {name}: {what}", flush=True)
        step_started = time.monotonic()
        tally = step()
        report(name, tally, time.monotonic() - step_started)
        total.add(tally)
    if total.passed + total.failed + total.skipped == 0:
        print(f"no test's name matches '{options.filter}'")
        total.failed = 1
    print(f"all of it took {time.monotonic() - started:.0f} s")
    print(total.last_line())
    return 1 if total.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted")
        sys.exit(130)
