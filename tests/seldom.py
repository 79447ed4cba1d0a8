"""Tests that `make test` leaves out: what they reach, others reach for less.

They were chosen by lines reached for each second. `seldom.txt` has each with the processor
seconds that it took. `make test-slow` runs all of them, `.ci/run` an eighth by the commit.
"""

import os
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest

LIST = Path(__file__).with_name("seldom.txt")


@cache
def seconds() -> dict[str, float]:
    lines = (line.split(" ", 1) for line in LIST.read_text("utf-8").splitlines())
    return {test: float(taken) for taken, test in lines}


def is_costly(node) -> bool:
    """Return whether a test runs without decoys: a slow one that this list didn't make slow."""
    marks = {mark.name for mark in node.iter_markers()}
    return "browser" in marks or "slow" in marks and _name(node) not in seconds()


def _name(node) -> str:
    return node.nodeid.split("[")[0]


def mark(item) -> None:
    test = _name(item)
    if test not in seconds():
        return
    item.add_marker("slow")
    part = os.environ.get("GENIE_WALK_PART")
    if part and crc32(test.encode()) % 8 != int(part):
        item.add_marker(pytest.mark.skip("a commit takes an eighth of these"))
