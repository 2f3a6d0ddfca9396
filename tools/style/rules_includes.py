"""Who may include what: layers, the standard library, the operating system, third parties."""

import re

from style import policy
from style.source import Finding

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layers_of(cmake_text):
    """The modules in their order, from the root's CMakeLists.txt."""
    match = re.search(r"set\(OURO_LAYERS\s+([^)]*)\)", cmake_text)
    return match.group(1).split() if match else []


def _matches_any(patterns, path):
    return any(re.search(pattern, path) for pattern in patterns)


def _layer_problem(path, header, layers):
    included = header.split("/")[1]
    if included not in layers:
        return f"there is no module '{included}' in OURO_LAYERS; include a header of {', '.join(layers)}"
    own = path.split("/")[1] if path.startswith("modules/") else None
    if own in layers and layers.index(included) > layers.index(own):
        return (f"'{own}' stands before '{included}' in OURO_LAYERS and may not use it; "
                f"move the code up to '{included}' or pass in what it needs")
    return None


def _standard_problem(path, header):
    library_code = path.startswith("modules/") and "/test/" not in path
    if library_code and header in policy.FORBIDDEN_STANDARD:
        return f"<{header}> has no place in modules/: {policy.FORBIDDEN_STANDARD[header]}"
    return None


def _outside_problem(path, header):
    for pattern, places in policy.THIRD_PARTY:
        if re.search(pattern, header):
            if _matches_any(places, path):
                return None
            return f"<{header}> may be included only below {' '.join(places)}; wrap it there"
    if re.search(policy.OS_HEADER, header):
        if _matches_any(policy.OS_PLACES, path):
            return None
        return f"<{header}> belongs to the operating system; call modules/os, whose src/linux may include it"
    if re.search(policy.CPU_HEADER, header):
        if _matches_any(policy.CPU_PLACES, path):
            return None
        return f"<{header}> belongs to one processor; put the code into src/x86 or src/wasm, chosen by CMake"
    if re.match(r"^[a-z0-9]+\.h$", header) and "c" + header[:-2] in policy.STANDARD:
        if _matches_any(policy.OS_PLACES, path):
            return None  # POSIX puts more into it than the standard does.
        return f"write <c{header[:-2]}> instead of <{header}>"
    if _matches_any(policy.ANY_HEADER_PLACES, path):
        return None
    return f"<{header}> is neither ours nor standard; tools/style/policy.py lists what may be used"


def check_includes(path, text, layers):
    if not path.startswith(policy.INCLUDE_ROOTS):
        return
    for match in _INCLUDE.finditer(text):
        quote, header = match.groups()
        line = text.count("\n", 0, match.start(1)) + 1
        problem = None
        if quote == '"':
            if header.startswith("../") or "/../" in header:
                problem = "no way up with ../: include it by its public name <ouro/...>"
        elif header.startswith("ouro/"):
            problem = _layer_problem(path, header, layers)
        elif header in policy.STANDARD:
            problem = _standard_problem(path, header)
        else:
            problem = _outside_problem(path, header)
        if problem:
            yield Finding(path, line, "include", problem)
