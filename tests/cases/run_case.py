#!/usr/bin/env python3
"""Runs one case: commands, and what must come of each. Cases are data; this is the only code they need.

    # What the case shows, in a sentence.
    $ deepgap run resnet18 --engine opnvino        run by sh in an empty folder, deepgap first in PATH
    exit 2                                         exit code of the command above (0 where none is given)
    out ~ text                                     standard output holds the text
    out !~ text                                    and does not hold this
    out = text                                     standard output is this line and no more
    err ~ text                                     the same for standard error
    json .cells[0].batch = 8                       standard output is JSON, and this member has this value
    skip-unless PATH                               the case needs it: skipped with a word where it is absent

$SHARED is the folder of shared material beside the checkout; $SOURCE the checkout, $BUILD the build folder.
Usage: run_case.py CASE BUILD_FOLDER SOURCE_FOLDER
"""
import json
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77  # what ctest takes for a skipped test (SKIP_RETURN_CODE)


def member(document, path):
    """The value at a path such as .cells[0].batch; its length for a final .length."""
    value = document
    for name, index in re.findall(r"\.([A-Za-z_0-9]+)|\[(-?\d+)\]", path):
        if name == "length" and isinstance(value, list):
            value = len(value)
        else:
            value = value[name] if name else value[int(index)]
    return value


class Case:
    def __init__(self, path, build, source):
        self.lines = open(path, encoding="utf-8").read().splitlines()
        self.environment = dict(os.environ)
        self.environment.update(
            PATH=build + os.pathsep + os.environ["PATH"], BUILD=build, SOURCE=source, SHARED=os.path.join(source, "..", "shared"), NO_COLOR="1")
        self.environment.pop("DEEPGAP_DB", None)
        self.failures = []
        self.result = None
        self.command = None
        self.exit_checked = True

    def fail(self, line, what):
        self.failures.append("line %d: %s\n  of: $ %s\n  stdout: %s\n  stderr: %s" % (
            line, what, self.command, self.result.stdout[-3000:], self.result.stderr[-3000:]))

    def check_exit(self, line, wanted=0):
        if not self.exit_checked and self.result.returncode != wanted:
            self.fail(line, "exit code %d, expected %d" % (self.result.returncode, wanted))
        self.exit_checked = True

    def check(self, line, number):
        kind, _, rest = line.partition(" ")
        if kind == "exit":
            self.check_exit(number, int(rest))
        elif kind in ("out", "err"):
            text = self.result.stdout if kind == "out" else self.result.stderr
            operator, _, wanted = rest.partition(" ")
            held = wanted in text
            if operator == "~" and not held:
                self.fail(number, "%s does not hold %r" % (kind, wanted))
            elif operator == "!~" and held:
                self.fail(number, "%s holds %r" % (kind, wanted))
            elif operator == "=" and text.rstrip("\n") != wanted:
                self.fail(number, "%s is not %r" % (kind, wanted))
            elif operator not in ("~", "!~", "="):
                raise SystemExit("line %d: unknown check %r" % (number, line))
        elif kind == "json":
            path, _, wanted = rest.partition(" = ")
            try:
                found = member(json.loads(self.result.stdout), path.strip())
            except (ValueError, KeyError, IndexError, TypeError) as error:
                self.fail(number, "no JSON member %s (%r)" % (path, error))
                return
            if found != json.loads(wanted):
                self.fail(number, "%s is %s, expected %s" % (path, json.dumps(found), wanted))
        else:
            raise SystemExit("line %d: expected a command or a check, found %r" % (number, line))

    def run(self):
        commands = 0
        with tempfile.TemporaryDirectory() as folder:
            for number, line in enumerate(self.lines, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                if line.startswith("skip-unless "):
                    needed = os.path.expandvars(line.split(" ", 1)[1].replace("$SHARED", self.environment["SHARED"]).replace(
                        "$BUILD", self.environment["BUILD"]))
                    if not os.path.exists(needed):
                        print("skipped: %s is not here" % needed)
                        return SKIPPED
                elif line.startswith("$ "):
                    self.check_exit(number)
                    self.command = line[2:]
                    commands += 1
                    self.exit_checked = False
                    done = subprocess.run(["sh", "-c", self.command], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240)
                    self.result = done
                    done.stdout = done.stdout.decode("utf-8", "replace")
                    done.stderr = done.stderr.decode("utf-8", "replace")
                else:
                    if not line.startswith("exit "):
                        self.check_exit(number)  # no `exit` right behind the command: 0 is expected
                    self.check(line, number)
            self.check_exit(len(self.lines))
        if commands == 0:
            raise SystemExit("the case runs no command")
        for failure in self.failures:
            print(failure)
        return 1 if self.failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    sys.exit(Case(sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])).run())
