"""Asks CMake, whose regular expressions ctest uses, whether a filter is one."""

import os
import subprocess
import tempfile

_SCRIPT = 'if("a name" MATCHES "${FILTER}")\nendif()\n'


def what_is_wrong_with(filter_text, cmake="cmake"):
    """CMake's complaint about the expression, or nothing."""
    if not filter_text:
        return None
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "filter.cmake")
        with open(script, "w", encoding="utf-8") as file:
            file.write(_SCRIPT)
        result = subprocess.run([cmake, f"-DFILTER:STRING={filter_text}", "-P", script], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace")
    if result.returncode == 0:
        return None
    said = [line.strip() for line in result.stdout.splitlines() if line.startswith("RegularExpression::")]
    return said[0].rpartition("(): ")[2] if said else "CMake cannot compile it"
