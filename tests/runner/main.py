"""Runs the style check and every configuration; the last line is the count. Called by ./test."""

import argparse
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from configurations import Configuration, build_failed  # noqa: E402
from features import missing_by_list, missing_natively, native_features  # noqa: E402
from filters import what_is_wrong_with  # noqa: E402
from results import Tally  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
ALL = (("release", "gcc -O3", "every test"), ("clang", "clang -O3", "golden hashes, concurrent tests"),
       ("asan", "ASan and UBSan", ""), ("tsan", "TSan", "concurrent tests"), ("o0", "gcc -O0", "golden hashes"),
       ("wasm", "wasm32 with workers", ""))
QUICK = ALL[:1]
LONG = tuple(("clang-all", "clang -O3", "") if step[0] == "clang" else step for step in ALL)
STEPS = {"quick": QUICK, "full": ALL, "long": LONG}


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


def describe(compiler, which, filter_text):
    if not filter_text:
        return ", ".join(filter(None, (compiler, which)))
    return f"{compiler}, {which or 'tests'} that match '{filter_text}'".replace("every test", "tests")


def nothing_matches(filter_text):
    tally = Tally()
    tally.fail(f"./test '{filter_text}'", "no test's name matches. Names are <program>.<Suite>.<Case>; is its file "
               "listed in an ouro_test()?\n`ctest --test-dir build/release -N` lists all names.")
    return tally


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=("full", "quick", "long"), default="full")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    wrong = what_is_wrong_with(options.filter)
    if wrong:
        print(f"./test: '{options.filter}' is not a regular expression for ctest: {wrong}", file=sys.stderr)
        return 2

    steps = [] if options.filter else [("style", "formatting, lengths, includes, names", check_style)]
    for preset, compiler, which in STEPS[options.mode]:
        steps.append((preset, describe(compiler, which, options.filter),
                      lambda preset=preset: run_configuration(preset, options)))

    total, started = Tally(), time.monotonic()
    for number, (name, what, step) in enumerate(steps, 1):
        print(f"[{number}/{len(steps)}] {name}: {what}", flush=True)
        step_started = time.monotonic()
        tally = step()
        report(name, tally, time.monotonic() - step_started)
        total.add(tally)
    if total.passed + total.failed + total.skipped == 0:
        tally = nothing_matches(options.filter)
        report("filter", tally, 0)
        total.add(tally)
    print(f"all of it took {time.monotonic() - started:.0f} s")
    print(total.last_line())
    return 1 if total.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\n./test: interrupted")
        sys.exit(130)
