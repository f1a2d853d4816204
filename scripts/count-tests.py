#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED" of a JUnit file; fails where it is absent or holds no test."""

import sys
import xml.etree.ElementTree


def main():
    try:
        root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        sys.exit(f"no test counts: {error}")
    total = failed = skipped = 0
    for case in root.iter("testcase"):
        total += 1
        # ctest writes what it could not start as <skipped> too; only status tells those from a test that skipped itself.
        if case.find("failure") is not None or case.get("status") == "fail":
            failed += 1
        elif case.find("skipped") is not None:
            message = case.find("skipped").get("message", "")
            if "SKIP" in message.upper():
                skipped += 1
            else:
                failed += 1
        elif case.get("status") == "disabled":
            skipped += 1
    if total == 0:
        sys.exit(f"no test counts: {sys.argv[1]} holds no test")
    print(total - failed - skipped, failed, skipped)


if __name__ == "__main__":
    main()
