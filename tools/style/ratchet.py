"""The lengths of files and functions: hard limits, and a baseline that may only get better."""

import json

from style import policy
from style.source import Finding, functions


class Lengths:
    """Collects the lengths of the tree, one file at a time."""

    def __init__(self):
        self.findings = []
        self._files = []
        self._functions = []

    def add(self, path, text):
        lines = text.count("\n")
        self._files.append((lines, path))
        if lines > policy.HARD_FILE_LINES:
            self.findings.append(Finding(path, 1, "file-length", f"{lines} lines, the limit is "
                                         f"{policy.HARD_FILE_LINES}; split it by ideas"))
        if not path.endswith(policy.CXX_SUFFIXES):
            return
        for function in functions(text):
            self._functions.append((function.lines, f"{path}:{function.first_line}"))
            if function.lines > policy.HARD_FUNCTION_LINES:
                self.findings.append(Finding(path, function.first_line, "function-length", f"{function.lines} lines, "
                                             f"the limit is {policy.HARD_FUNCTION_LINES}; split it by steps"))

    def measure(self):
        """The measured values, each with the place that is worst; lengths below the soft limits count as the limit."""
        def over(entries, soft):
            return sorted((entry for entry in entries if entry[0] > soft), reverse=True)

        long_files = over(self._files, policy.SOFT_FILE_LINES)
        long_functions = over(self._functions, policy.SOFT_FUNCTION_LINES)
        file_place = long_files[0][1] if long_files else ""
        function_place = long_functions[0][1] if long_functions else ""
        return {
            f"files_over_{policy.SOFT_FILE_LINES}_lines": (len(long_files), file_place),
            f"functions_over_{policy.SOFT_FUNCTION_LINES}_lines": (len(long_functions), function_place),
            "longest_file_lines": (long_files[0][0] if long_files else policy.SOFT_FILE_LINES, file_place),
            "longest_function_lines": (long_functions[0][0] if long_functions else policy.SOFT_FUNCTION_LINES,
                                       function_place),
        }


def compare(measured, baseline, baseline_path):
    """Findings for what got worse, and the names of what got better."""
    findings, better = [], []
    for name, (value, place) in measured.items():
        if name not in baseline:
            findings.append(Finding(baseline_path, 1, "ratchet", f"'{name}' is missing; "
                                    "run tools/style-check --update"))
        elif value > baseline[name]:
            findings.append(Finding(baseline_path, 1, "ratchet", f"{name} rose from {baseline[name]} to {value} "
                                    f"(see {place}); shorten it instead"))
        elif value < baseline[name]:
            better.append(f"{name}: {baseline[name]} -> {value}")
    return findings, better


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(path, measured):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({name: value for name, (value, _) in measured.items()}, file, indent=2)
        file.write("\n")
