#!/usr/bin/env python3
"""Lint: clang-format, clang-tidy, shellcheck and Python's own syntax check, on every file that is not ignored by git.

    scripts/lint.py [--build build/release] [--fix-format] [FILE...]

    format   142 checked, 0 with findings
    tidy      81 checked (80 unchanged since they passed), 1 with findings
    src/stats/quantile.cpp:31:7: error: ...

clang-tidy is slow, so what passed is remembered in the cache folder by a hash of the file, our headers below it, the
compiler's flags and the checks. Counts go to lint.xml in the build folder (JUnit), for .ci/run.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[1]
CLANG_FORMAT = "clang-format-14"  # other versions format differently
TIDY_FOLDERS = ("src/", "apps/", "workers/")
OF_TESTS = re.compile(r"(_test|test_support|test_models)\.cpp$")
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
REMEMBERED_DAYS = 30


def jobs():
    return int(os.environ.get("JOBS") or len(os.sched_getaffinity(0)))


def tool(*names):
    for name in names:
        if shutil.which(name):
            return name
    sys.exit(f"error: expected {' or '.join(names)}, found none: run 'scripts/install-packages.sh lint'")


def listed_files():
    """Tracked files and new ones that git does not ignore."""
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=ROOT, capture_output=True, check=True)
    names = [name for name in listing.stdout.decode().split("\0") if name]
    return sorted(name for name in names if (ROOT / name).is_file())


def output_of(command):
    """(passed, text) of a command run in the root."""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    return result.returncode == 0, (result.stdout + result.stderr).strip()


class Report:
    """What was checked, by tool; a finding is a text that is not empty."""

    def __init__(self):
        self.cases = []

    def add(self, kind, results, note=""):
        results = list(results)
        found = [(name, text) for name, text in results if text]
        print(f"{kind:8} {len(results):4} checked{note}, {len(found)} with findings", flush=True)
        for _, text in found:
            print(text, flush=True)
        self.cases += [(kind, name, text) for name, text in results]

    def failed(self):
        return any(text for _, _, text in self.cases)

    def write(self, path):
        suite = xml.Element("testsuite", name="lint", tests=str(len(self.cases)))
        for kind, name, text in self.cases:
            case = xml.SubElement(suite, "testcase", name=f"{kind} {name}", status="fail" if text else "run")
            if text:
                # XML has no control characters.
                xml.SubElement(case, "failure").text = re.sub(r"[^\t\n\x20-\uffff]", "?", text)
        xml.ElementTree(suite).write(path)


def check_format(name):
    passed, text = output_of([CLANG_FORMAT, "--dry-run", "-Werror", name])
    lines = [line for line in text.splitlines() if ": error:" in line]
    more = f" (and {len(lines) - 1} more places: 'make format')" if len(lines) > 1 else ""
    return name, "" if passed else (lines[0] + more if lines else text)


def check_shell(name):
    passed, text = output_of(["shellcheck", "--external-sources", "--source-path=SCRIPTDIR", "--format=gcc", name])
    return name, "" if passed else text


def check_python(name):
    try:
        compile((ROOT / name).read_bytes(), name, "exec")
    except SyntaxError as error:
        return name, f"{name}:{error.lineno}: {error.msg}"
    return name, ""


def own_headers(path, folders, seen):
    """Adds to `seen` the file and every header of ours that it includes, directly or not."""
    if path in seen:
        return
    seen[path] = path.read_bytes()
    for match in INCLUDE.finditer(seen[path]):
        for folder in (path.parent, *folders):
            header = folder / os.fsdecode(match.group(1))
            if header.is_file():
                own_headers(header.resolve(), folders, seen)
                break


class Tidy:
    """clang-tidy with a memory of what passed."""

    def __init__(self, build):
        self.program = tool("clang-tidy-14", "clang-tidy")
        self.build = build
        cache = subprocess.run([ROOT / "scripts/cache-folder.sh"], capture_output=True, text=True, check=True)
        self.memory = pathlib.Path(cache.stdout.strip()) / "clang-tidy"
        self.memory.mkdir(parents=True, exist_ok=True)
        version = subprocess.run([self.program, "--version"], capture_output=True, check=True).stdout
        self.common = version + (ROOT / ".clang-tidy").read_bytes()
        self.unchanged = 0
        self.forget_old()

    def forget_old(self):
        for path in self.memory.iterdir():
            if time.time() - path.stat().st_mtime > REMEMBERED_DAYS * 86400:
                path.unlink(missing_ok=True)

    def key(self, entry):
        arguments = shlex.split(entry["command"])
        folders = [pathlib.Path(argument[2:]) for argument in arguments if argument.startswith("-I")]
        seen = {}
        own_headers(pathlib.Path(entry["file"]).resolve(), folders, seen)
        # Where the tree and the cache lie does not matter.
        flags = " ".join(arguments).replace(str(ROOT), "").replace(str(self.memory.parent), "")
        digest = hashlib.sha256(self.common + flags.encode())
        for path in sorted(seen):
            digest.update(hashlib.sha256(seen[path]).digest())
        return digest.hexdigest()

    def check(self, entry):
        name = os.path.relpath(entry["file"], ROOT)
        remembered = self.memory / self.key(entry)
        if remembered.exists():
            os.utime(remembered)
            self.unchanged += 1
            return name, ""
        # The compiler is gcc; its own warning options mean nothing to clang.
        passed, text = output_of([self.program, "--quiet", "-p", str(self.build),
                                  "--extra-arg=-Wno-unknown-warning-option", entry["file"]])
        if passed:
            remembered.touch()
            return name, ""
        lines = [line for line in text.splitlines() if not re.match(r"\d+ warnings? |Suppressed |Use -header|Error while", line)]
        return name, "\n".join(lines).replace(f"{ROOT}/", "") or text

    def entries(self, wanted):
        listed = json.loads((self.build / "compile_commands.json").read_text())
        chosen = {}
        for entry in listed:
            name = os.path.relpath(entry["file"], ROOT)
            if name in wanted and name.startswith(TIDY_FOLDERS) and not OF_TESTS.search(name):
                chosen[name] = entry
        # The slowest first would be best; the largest first comes close.
        return sorted(chosen.values(), key=lambda entry: -os.path.getsize(entry["file"]))


def main():
    parser = argparse.ArgumentParser(description="checks format, clang-tidy, shellcheck and Python syntax")
    parser.add_argument("--build", default="build/release", help="the build folder, for compile_commands.json")
    parser.add_argument("--fix-format", action="store_true", help="format the sources and do nothing else")
    parser.add_argument("files", nargs="*", help="only these files")
    arguments = parser.parse_args()

    names = [os.path.relpath(os.path.abspath(name), ROOT) for name in arguments.files] or listed_files()
    sources = [name for name in names if name.endswith((".cpp", ".h"))]
    tool(CLANG_FORMAT)
    if arguments.fix_format:
        return subprocess.run([CLANG_FORMAT, "-i", *sources], cwd=ROOT, check=False).returncode

    build = ROOT / arguments.build
    if not (build / "compile_commands.json").exists():
        sys.exit(f"error: expected {build}/compile_commands.json: run 'make' first, or name the folder with --build")
    tool("shellcheck")
    report = Report()
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        report.add("format", pool.map(check_format, sources))
        scripts = [name for name in names if name.endswith(".sh") or name == ".ci/run"]
        report.add("shell", pool.map(check_shell, scripts))
        report.add("python", map(check_python, [name for name in names if name.endswith(".py")]))
        tidy = Tidy(build)
        results = list(pool.map(tidy.check, tidy.entries(set(names))))
        report.add("tidy", results, f" ({tidy.unchanged} unchanged since they passed)" if tidy.unchanged else "")
    report.write(build / "lint.xml")
    return 1 if report.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
