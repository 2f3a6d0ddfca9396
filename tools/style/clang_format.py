"""Runs clang-format over the tree's C++ files without changing them."""

import re
import shutil
import subprocess

from style.source import Finding

PROGRAM = "clang-format-19"
_BATCH = 40


def check_format(root, paths):
    if not paths:
        return
    if not shutil.which(PROGRAM):
        yield Finding(paths[0], 1, "format", f"{PROGRAM} is not installed; run tools/setup")
        return
    reported = set()
    for first in range(0, len(paths), _BATCH):
        command = [PROGRAM, "--dry-run", "--ferror-limit=0", "--style=file", *paths[first:first + _BATCH]]
        result = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        places = re.findall(r"^([^\s:][^:\n]*):(\d+):\d+: (?:warning|error): code should be clang-formatted",
                            result.stdout, re.MULTILINE)
        for path, line in places:
            if path not in reported:
                reported.add(path)
                yield Finding(path, int(line), "format", f"not formatted; run {PROGRAM} -i {path}")
        if result.returncode != 0 and not places:
            yield Finding(paths[first], 1, "format", f"{PROGRAM} failed: {result.stdout.strip()[:300]}")
