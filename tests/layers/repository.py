"""Checks over the repository's text: paths that its map names, words that belong to one machine."""

import itertools
import re
import subprocess

# Split, so that this file does not contain what it looks for.
FOREIGN = [
    "pypi" + ".org",
    "python" + "hosted.org",
    "deb." + "debian.org",
    "archive." + "ubuntu.com",
    "registry." + "npmjs.org",
    "proxy." + "golang.org",
    "/" + "work/",
    "/" + "root/.pyenv",
    "/" + "root/.cache",
    "helper" + " agent",
]
# A path in the map: in back quotes, with a slash, of a folder or file of this repository.
FOLDERS = {"src", "apps", "workers", "python", "data", "tests", "fuzz", "bench", "docs", "scripts", "cmake", ".ci"}
TOP_FILE = re.compile(r"[A-Z]+\.md|CMake[A-Za-z]+\.(txt|json)|Makefile|LICENSE|VERSION")
QUOTED = re.compile(r"`([A-Za-z0-9_.{},*/-]+)`")


def expand(pattern):
    """`a/{b,c}.h` as its paths, like a shell."""
    match = re.search(r"\{([^{}]*)\}", pattern)
    if not match:
        return [pattern]
    heads = [pattern[: match.start()] + choice + pattern[match.end() :] for choice in match.group(1).split(",")]
    return list(itertools.chain.from_iterable(expand(head) for head in heads))


def missing_paths(text, root):
    """Paths named in `text` that do not exist below `root` or its src/. Built and outside paths are not looked for."""
    folders = {path.name for path in root.iterdir()} | FOLDERS
    modules = {path.name for path in (root / "src").iterdir()}
    missing = []
    for quoted in QUOTED.findall(text):
        first = quoted.split("/")[0]
        for path in expand(quoted):
            if first in modules and "/" in quoted:
                path = f"src/{path}"
            elif not (first in folders if "/" in quoted else TOP_FILE.fullmatch(quoted)):
                continue
            if not any(root.glob(path.rstrip("/"))):
                missing.append(path)
    return missing


def foreign_words(text):
    """[(line, word)] of words that name a registry's host or a machine's folders."""
    return [
        (number, word)
        for number, line in enumerate(text.splitlines(), 1)
        for word in FOREIGN
        if word in line.lower()
    ]


def tracked_text_files(root):
    """Files that git tracks and that are text; without git (a source archive), every text file outside build/."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        paths = [root / name for name in listing.stdout.decode().split("\0") if name]
    else:
        paths = [path for path in root.rglob("*") if "build" not in path.relative_to(root).parts[:1]]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:8192]]
