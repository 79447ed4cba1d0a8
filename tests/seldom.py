"""Tests that `make test` leaves out: what they reach, others reach for less.

They were chosen by lines reached for each second. `seldom.txt` has each with the processor
seconds that it took. `make test-slow` runs all of them, `.ci/run` an eighth by the commit,
and an eighth of `rotating.txt`: long tests of whole processes, with seconds by the clock.
"""

import os
from functools import cache
from pathlib import Path

import pytest


@cache
def parts(name: str) -> dict[str, int]:
    """Return which eighth each test of a list is in; all eighths take about as long."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    lines = [line.split(" ", 1) for line in text.splitlines()]
    lines.sort(key=lambda line: -float(line[0]))
    return {test: place % 8 for place, (_, test) in enumerate(lines)}


def is_costly(node) -> bool:
    """Return whether a test runs without decoys: a slow one that this list didn't make slow."""
    marks = {mark.name for mark in node.iter_markers()}
    return "browser" in marks or (
        "slow" in marks and _name(node) not in parts("seldom.txt")
    )


def _name(node) -> str:
    return node.nodeid.split("[")[0]


def mark(item) -> None:
    test, taken = _name(item), os.environ.get("GENIE_WALK_PART")
    if test in parts("seldom.txt"):
        item.add_marker("slow")
    own = parts("seldom.txt").get(test, parts("rotating.txt").get(test))
    if taken and own is not None and own != int(taken):
        item.add_marker(pytest.mark.skip("a commit takes an eighth of these"))
