"""Names for judged instances while test questions are in use.

Test questions are made of instances that are not judged. Whoever knows which ones are
judged can therefore recognise test questions, so a release made while anything of the
task is being judged numbers the judged instances instead of naming them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from leaderboard.releases.bundle import Record

_NUMBERED = re.compile(r"judged-(\d+)")


def withhold_instances(
    tables: Iterable[list[Record]], position_of: Mapping[str, int]
) -> None:
    """Replace the instances' ids by numbers that keep their order, in place.

    Parameters
    ----------
    tables : iterable of list of dict
        Rows with an `instance`. One instance has one number in all of them.
    position_of : mapping from str to int
        Place of each instance in the task. The order is kept because bootstraps are
        rebuilt from it; places are not, as gaps would tell what is not judged.
    """
    rows = [row for table in tables for row in table]
    judged = sorted({row["instance"] for row in rows}, key=lambda i: position_of[i])
    name_of = {name: f"judged-{n:05d}" for n, name in enumerate(judged, start=1)}
    for row in rows:
        row["instance"] = name_of[row["instance"]]


class Places(dict[str, int]):
    """Places of instances in the task, or of numbered instances among the judged."""

    def __missing__(self, name: str) -> int:
        """Read the number of an instance that is not named."""
        if (match := _NUMBERED.fullmatch(name)) is None:
            raise KeyError(name)
        # numbers keep the instances' order, and only the order enters the bootstrap
        return int(match[1])
