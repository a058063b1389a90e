"""Runs the contract suites on the policies of extensions: ``python run_contracts.py LIBRARY EXTENSION... [--gtest_...]``.

LIBRARY is build/release/tests/libcontracts_of_extensions.so. The status is that of the suites; 2 if no test ran.
"""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path

import homenode as hn


def main(words: list[str]) -> int:
    """Load the extensions, hand their policies to the suites, run these on them alone."""
    library, *rest = words
    built_in = {policy["name"] for policy in hn.policies()}
    for extension in [word for word in rest if not word.startswith("--")]:
        hn.load_extension(extension)
    names = [policy["name"] for policy in hn.policies() if policy["name"] not in built_in]
    hn.load_extension(library)
    tests = ":".join(f"*/Every*/{re.sub('[^A-Za-z0-9]', '_', name)}*" for name in names)
    options = [
        f"--gtest_filter={tests}:*.asAModifier*:*ntriesAreSound",
        "--gtest_brief=1",
        *(word for word in rest if word.startswith("--")),
    ]
    arguments = [word.encode() for word in ("contracts", *options)]
    suites = ctypes.CDLL(str(Path(library).absolute()))
    return int(suites.homenode_run_contracts(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
