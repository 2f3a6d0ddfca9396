"""Reads what ctest wrote in JUnit form and decides what counts as passed, failed and skipped."""

import os
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

# A test says what it misses in these words: GTEST_SKIP() << "needs <feature>".
_NEEDS = re.compile(r"\bneeds ([a-z0-9_]+)")
_SHOWN_LINES = 40


@dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)  # (test name, text)
    skips: list = field(default_factory=list)  # (test name, reason)

    def fail(self, name, text):
        self.failed += 1
        self.failures.append((name, text))

    def skip(self, name, reason):
        self.skipped += 1
        self.skips.append((name, reason))

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.skips += other.skips

    def last_line(self):
        line = f"{self.passed} passed, {self.failed} failed"
        return line + (f", {self.skipped} skipped" if self.skipped else "")


def _end_of(text):
    return "\n".join(text.rstrip().split("\n")[-_SHOWN_LINES:])


def skip_reason(output):
    """The words a skipped test gave: what follows GoogleTest's 'Skipped' line."""
    lines = output.split("\n")
    for number, line in enumerate(lines[:-1]):
        if re.search(r":\d+: Skipped\s*$", line):
            return lines[number + 1].strip() or "no reason given"
    needs = _NEEDS.search(output)
    return needs.group(0) if needs else "no reason given"


def judge_skip(reason, is_missing):
    """Why the skip counts as a failure, or nothing. is_missing(feature) tells True, False, or None when unknown."""
    needs = _NEEDS.search(reason)
    if needs is None:
        return f"skipped ({reason}) without saying \"needs <feature>\"; nothing else excuses a skip"
    missing = is_missing(needs.group(1))
    if missing:
        return None
    if missing is None:
        return f"skipped because it {reason}, a feature that nothing reports as missing here"
    return f"skipped because it {reason}, but the capabilities report says that it is there"


def _count_case(tally, case, is_missing):
    name, status = case.get("name", "?"), case.get("status", "")
    output = case.findtext("system-out") or ""
    skipped = case.find("skipped")
    message = skipped.get("message", "") if skipped is not None else ""
    if status == "run":
        tally.passed += 1
    elif status == "disabled":
        tally.fail(name, "it is disabled; mend or delete it, or let it skip with \"needs <feature>\"")
    elif skipped is not None and message.startswith("SKIP_"):
        reason = skip_reason(output)
        wrong = judge_skip(reason, is_missing)
        if wrong:
            tally.fail(name, wrong)
        else:
            tally.skip(name, reason)
    else:
        failure = case.find("failure")
        why = message or (failure.get("message", "") if failure is not None else "")
        tally.fail(name, _end_of((output.rstrip() + "\n" + why).strip() or "failed without a word"))


def read_junit(path, is_missing):
    """The tally of one ctest run."""
    tally = Tally()
    if not os.path.exists(path):
        tally.fail("ctest", "it wrote no results")
        return tally
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        tally.fail("ctest", f"its results in {path} cannot be read: {error}")
        return tally
    for case in root.iter("testcase"):
        _count_case(tally, case, is_missing)
    return tally
