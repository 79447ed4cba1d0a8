"""The table of what each platform can do is what the code says."""

from dataclasses import fields
from pathlib import Path

from crowd.platforms.base import Capabilities, all_platforms

PAGE = Path(__file__).resolve().parents[3] / "docs/crowd-platforms.md"
HEADING = "## Features of each platform"
PLAIN = {True: "yes", False: "–"}  # and for 0, which equals False


def table():
    """Read the table below the heading: name of the capability -> platform -> cell."""
    lines = PAGE.read_text("utf-8").split(HEADING)[1].split("\n##")[0].splitlines()
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]
    head, _, *body = rows
    return {row[0]: dict(zip(head[2:], row[2:], strict=True)) for row in body}


def cell(value):
    if isinstance(value, frozenset):
        return ", ".join(f"`{one}`" for one in sorted(value)).strip("`") or "–"
    return PLAIN[value] if value in (True, False) and value is not None else str(value)


def test_the_table_says_of_each_platform_what_its_code_says():
    wanted = {
        one.name: {
            slug: cell(getattr(kind.capabilities, one.name))
            for slug, kind in all_platforms().items()
        }
        for one in fields(Capabilities)
    }
    # 1 is a number of characters here, not a yes.
    wanted["reject_minimum_characters"] = {
        slug: str(kind.capabilities.reject_minimum_characters)
        for slug, kind in all_platforms().items()
    }
    assert table() == wanted
