"""Usage: wrong_include_test.py <root> <compile_commands.json> <layer>...

Compiles one-line files exactly as the sources of each module are compiled: a header of the module itself and of its
dependencies is found, and one of any later module is not.
"""

import glob
import json
import os
import shlex
import subprocess
import sys
import tempfile


def command_of_module(commands, root, layer):
    """The compiler and its flags for a source of the module, without the source and the output."""
    prefix = os.path.join(root, "modules", layer, "src") + os.sep
    entry = next((e for e in commands if os.path.realpath(e["file"]).startswith(prefix)), None)
    if entry is None:
        sys.exit(f"no source of module '{layer}' is in compile_commands.json")
    words, kept, skip = shlex.split(entry["command"]), [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT"):
            skip = True
        elif not word.startswith("-MD"):
            kept.append(word)
    if "ccache" in os.path.basename(kept[0]):
        kept = kept[1:]
    return kept + ["-fsyntax-only"], entry["directory"]


def compile_include(command, directory, folder, header):
    source = os.path.join(folder, "sample.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write(f"#include <{header}>\n")
    return subprocess.run(command + [source], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)


def a_header_of(root, layer):
    include = os.path.join(root, "modules", layer, "include")
    headers = sorted(glob.glob(os.path.join(include, "ouro", layer, "*.hpp")))
    if not headers:
        sys.exit(f"module '{layer}' has no public header")
    return os.path.relpath(headers[0], include)


def main():
    root, layers = os.path.realpath(sys.argv[1]), sys.argv[3:]
    with open(sys.argv[2], encoding="utf-8") as file:
        commands = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        for position, layer in enumerate(layers):
            command, directory = command_of_module(commands, root, layer)
            own = compile_include(command, directory, folder, a_header_of(root, layer))
            if own.returncode != 0:
                sys.exit(f"'{layer}' cannot include its own header:\n{own.stdout}")
            for later in layers[position + 1:]:
                header = a_header_of(root, later)
                wrong = compile_include(command, directory, folder, header)
                if wrong.returncode == 0 or header not in wrong.stdout:
                    sys.exit(f"'{layer}' can include <{header}> of the later module '{later}':\n{wrong.stdout}")
                print(f"{layer} cannot include <{header}>")


if __name__ == "__main__":
    main()
