"""Which features a machine or a platform has, to tell an honest skip from a broken test."""

import json
import os
import shutil
import subprocess

# Programs that a test may need and `./test --quick` does without: tools/setup installs them for all tests.
PROGRAMS = ("valgrind",)


def native_features(program):
    """The features of `ouro doctor --json` as {name: there or not}; empty when the program cannot say."""
    if not os.access(program, os.X_OK):
        return {}
    try:
        result = subprocess.run([program, "doctor", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                timeout=60, check=True)
        features = json.loads(result.stdout).get("features", {})
    except (OSError, ValueError, AttributeError, subprocess.SubprocessError):
        return {}
    return features if isinstance(features, dict) else {}


def missing_natively(features):
    """A function that tells whether a feature is missing: True, False, or None when the report does not name it."""
    def is_missing(name):
        if name in PROGRAMS:
            return shutil.which(name) is None
        return None if features.get(name) is None else not features[name]
    return is_missing


def missing_by_list(path):
    """The same for a platform whose missing features are listed in a file, one a line; '#' starts a comment."""
    names = set()
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            names = {line.split("#")[0].strip() for line in file} - {""}
    return lambda name: True if name in names else None
