"""Checks that each header of src/ is known to compile alone, and may be included twice.

    problems(root) -> ["src/stats/x.cpp:5: expected its own header \\"stats/x.h\\" as the first include, found <map>", ...]

A source that includes its own header first has compiled that header alone; the other headers are compiled by
tests/headers. So a source that stands beside a header must include it first, and its module must compile it.
"""

import pathlib
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]+>|"[^"]+")', re.MULTILINE)
# C headers have the guard that C has.
ONCE = re.compile(r"^#pragma once$|^#ifndef (\w+)\n#define \1$", re.MULTILINE)


def problems_of_header(path, root):
    found = []
    if not ONCE.search(path.read_text(errors="replace")):
        found.append(f"{path.relative_to(root)}: expected '#pragma once'")
    source = path.with_suffix(".cpp")
    if not source.is_file():
        return found
    text = source.read_text(errors="replace")
    first = INCLUDE.search(text)
    own = f'"{path.relative_to(root / "src").as_posix()}"'
    if first is None or first.group(1) != own:
        line = text.count("\n", 0, first.start(1)) + 1 if first else 1
        found.append(f"{source.relative_to(root)}:{line}: expected its own header {own} as the first include,"
                     f" found {first.group(1) if first else 'none'}")
    module = root / "src" / path.relative_to(root / "src").parts[0]
    lists = (module / "CMakeLists.txt").read_text() if (module / "CMakeLists.txt").is_file() else ""
    name = source.relative_to(module).as_posix()
    if not re.search(rf"(?<![\w/.]){re.escape(name)}(?![\w.])", lists):
        found.append(f"{source.relative_to(root)}: expected src/{module.name}/CMakeLists.txt to name it")
    return found


def problems(root):
    root = pathlib.Path(root)
    return [problem for path in sorted((root / "src").rglob("*.h")) for problem in problems_of_header(path, root)]
