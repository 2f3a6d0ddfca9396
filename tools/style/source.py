"""Reading the tree: its files, their text without comments and strings, and where functions begin and end."""

import os
import re
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.rule}] {self.message}"


@dataclass(frozen=True)
class Function:
    first_line: int
    last_line: int

    @property
    def lines(self):
        return self.last_line - self.first_line + 1


def list_files(root):
    """The files under version control or about to be, relative to the root; all but build/ where there is no git."""
    if os.path.exists(os.path.join(root, ".git")):
        command = ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others",
                   "--exclude-standard"]
        names = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
        return sorted(n for n in set(names) if n and os.path.isfile(os.path.join(root, n)))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in ("build", ".git", "node_modules", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
                    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def without_comments_and_strings(text):
    """The same text, with the same lines and columns, where comments, strings and characters are spaces."""
    return _TOKEN.sub(_blank, text)


_TYPE = re.compile(r"^(?:template\s*<.*?>\s*(?:requires\b.*?)?)?(?:typedef\s+)?(?:class|struct|union|enum)\b[^()]*"
                   r"(?:alignas\s*\([^()]*\)[^()]*)?(?::.*)?$", re.DOTALL)
_ACCESS = re.compile(r"^\s*(?:public|private|protected)\s*:")


def _kind_of_block(header):
    header = header.strip()
    if re.match(r"^(inline\s+)?namespace\b|^extern\s*$|^export\s*$", header):
        return "scope"
    if _TYPE.match(header):
        return "scope"
    if re.search(r"(?<![=!<>])=\s*$", header) or "(" not in header:
        return "value"
    return "function"


def functions(text):
    """Every function with a body outside other functions; right for code in our clang-format style."""
    code = _DIRECTIVE.sub(_blank, without_comments_and_strings(text))
    result, stack = [], []  # The stack holds (kind, where the block's header starts).
    start = 0
    for match in re.finditer(r"[{};]", code):
        at, mark = match.start(), match.group(0)
        inside = bool(stack) and stack[-1][0] in ("function", "value", "block")
        if mark == "{":
            header = code[start:at]
            access = _ACCESS.match(header)
            while access:
                start += access.end()
                header = code[start:at]
                access = _ACCESS.match(header)
            stack.append(("block" if inside else _kind_of_block(header), start))
        elif mark == "}" and stack:
            kind, begun = stack.pop()
            following = code[at + 1:at + 200].lstrip()[:1]
            if kind == "function" and following in (",", "{"):
                start = begun  # It was a member's initializer: the body is still to come.
                continue
            if kind == "function":
                first = begun + len(code[begun:at]) - len(code[begun:at].lstrip())
                result.append(Function(code.count("\n", 0, first) + 1, code.count("\n", 0, at) + 1))
        if not (stack and stack[-1][0] in ("function", "value", "block")):
            start = at + 1
    return result
