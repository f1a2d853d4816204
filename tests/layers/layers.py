"""Checks the layers: which module of src/ includes which, and what the programs may include.

    problems(root) -> ["src/stats/x.cpp:4: stats may not include graph (src/LAYERS)", ...]

src/LAYERS lists each module with those it may include; a line may only name modules above it. Our headers stand in quotes
as "module/header.h", or beside the file that includes them.
"""

import pathlib
import re

# Workers are programs that link the core's lower half; the program itself stands on the public verbs.
PROGRAMS = {
    "workers": {"base", "stats", "core", "run"},
    "apps": {"base", "core", "report", "session"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SOURCES = {".h", ".cpp", ".c"}


def read_layers(path):
    """[(module, [modules it may include])] in the order of the file, and problems of its form."""
    layers, found = [], []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, colon, rest = line.partition(":")
        if not colon:
            found.append(f"src/LAYERS:{number}: expected 'module: modules', found '{line}'")
            continue
        above = {module for module, _ in layers}
        for other in rest.split():
            if other not in above:
                found.append(f"src/LAYERS:{number}: {name} names {other}, which stands on no line above it")
        if name in above:
            found.append(f"src/LAYERS:{number}: {name} has a line already")
        layers.append((name, rest.split()))
    return layers, found


def read_modules(path):
    """The modules of src/modules.cmake in their order."""
    match = re.search(r"set\(DEEPGAP_MODULES\s+([^)]*)\)", path.read_text())
    return match.group(1).split() if match else []


def problems_of_file(path, root, modules, allowed, home):
    """Includes of one file that its place does not allow. `home` names the place in the message."""
    text = path.read_text(errors="replace")
    found = []
    for match in INCLUDE.finditer(text):
        included = match.group(1)
        module = included.split("/")[0] if "/" in included else ""
        where = f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start(1)) + 1}"
        if module in modules:
            if module not in allowed:
                found.append(f"{where}: {home} may not include {module}; found \"{included}\"")
            elif not (root / "src" / included).is_file():
                found.append(f"{where}: \"{included}\" is no file of src/")
        elif ".." in included.split("/"):
            found.append(f"{where}: a path with .. goes past src/LAYERS; found \"{included}\"")
    return found


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES) if folder.is_dir() else []


def problems(root):
    root = pathlib.Path(root)
    layers, found = read_layers(root / "src/LAYERS")
    modules = [module for module, _ in layers]
    listed = read_modules(root / "src/modules.cmake")
    if listed != modules:
        found.append(f"src/modules.cmake lists {listed}, src/LAYERS {modules}: they must be the same, in the same order")
    folders = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    for module in sorted(folders - set(modules)):
        found.append(f"src/{module}: a folder without a line in src/LAYERS")
    for module in sorted(set(modules) - folders):
        found.append(f"src/LAYERS: {module} has no folder in src/")
    for module, below in layers:
        for path in sources(root / "src" / module):
            found += problems_of_file(path, root, modules, {module, *below}, module)
    for program, allowed in PROGRAMS.items():
        for path in sources(root / program):
            found += problems_of_file(path, root, modules, allowed, f"{program}/")
    return found
