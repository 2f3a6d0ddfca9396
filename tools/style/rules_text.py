"""Rules on lines of text and on names."""

import re

from style import policy
from style.source import Finding, without_comments_and_strings


def _in_places(places, path):
    return any(re.search(place, path) for place in places)


def check_whitespace(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            yield Finding(path, number, "tab", "a tab; indent with spaces")
        if line != line.rstrip():
            yield Finding(path, number, "trailing-space", "space at the end of the line; remove it")
    if text and not text.endswith("\n"):
        yield Finding(path, text.count("\n") + 1, "last-line", "the file does not end with a newline; add one")


def check_line_length(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > policy.LINE_CHARACTERS:
            yield Finding(path, number, "line-length", f"{len(line)} characters, the limit is "
                          f"{policy.LINE_CHARACTERS}; break the line")


def check_words(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        word = re.search(policy.UNFINISHED, line)
        if word:
            yield Finding(path, number, "unfinished", f"'{word.group(0)}': finish it, or describe the limit as a fact")
        if re.search(policy.MACHINE_PATH, line) and not _in_places(policy.MACHINE_PATH_PLACES, path):
            yield Finding(path, number, "machine-path", "a path of somebody's machine; derive it at run time")


def check_pragma_once(path, text):
    if path.endswith(".hpp") and not re.search(r"^#pragma once$", text, re.MULTILINE):
        yield Finding(path, 1, "pragma-once", "a header without '#pragma once'; add it as the first line of code")


def check_platform_macros(path, text):
    if _in_places(policy.PLATFORM_PLACES, path):
        return
    for number, line in enumerate(without_comments_and_strings(text).split("\n"), 1):
        if re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b", line):
            macro = re.search(policy.PLATFORM_MACRO, line)
            if macro:
                yield Finding(path, number, "platform",
                              f"'{macro.group(0)}' in the logic; put each platform's code into a file of its own, "
                              "src/<platform>/, chosen by CMake")


def check_file_name(path, _text):
    name = path.rsplit("/", 1)[-1]
    if path.endswith((".hpp", ".cpp")) and not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*\.(hpp|cpp)", name):
        yield Finding(path, 1, "file-name", "name C++ files in snake_case")
    if path.startswith("modules/") and re.search(policy.VAGUE_FILE_NAME, name):
        yield Finding(path, 1, "file-name", "the name says nothing; name the one idea that the file holds")


_TYPE_NAME = re.compile(r"^\s*(?:template\s*<[^\n]*>\s*)?(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+"
                        r"(?:alignas\([^)]*\)\s+)?(?:\[\[[^\]]*\]\]\s*)?([A-Za-z_]\w*)(?P<rest>[^\n]*)$", re.MULTILINE)
_CONSTANT = re.compile(r"^(?:inline\s+|static\s+)*constexpr\s+(?:[\w:<>,*&\[\] ]+?)\s+\**([A-Za-z_]\w*)"
                       r"(?:\[[^\]]*\])*\s*[={]", re.MULTILINE)
_MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)


def check_names(path, text):
    if not path.startswith(("modules/", "apps/", "bench", "examples/")):
        return
    code = without_comments_and_strings(text)
    for pattern, good, advice in (
            (_TYPE_NAME, r"[A-Z][A-Za-z0-9]*", "name types in PascalCase"),
            (_CONSTANT, r"k[A-Z][A-Za-z0-9]*", "name constants kLikeThis"),
            (_MACRO, policy.MACRO_NAME, "start macros with OURO_")):
        for match in pattern.finditer(code):
            name = match.group(1)
            # Uses of a type, and specialisations of the standard's templates, keep the other's name.
            foreign = pattern is _TYPE_NAME and not re.match(r"\s*(final\b|:(?!:)|\{|;|$)", match.group("rest"))
            if not foreign and not re.fullmatch(good, name):
                yield Finding(path, code.count("\n", 0, match.start(1)) + 1, "name", f"'{name}': {advice}")
