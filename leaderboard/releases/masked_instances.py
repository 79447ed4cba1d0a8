"""Names for rated instances while test questions are in use.

Test questions are made of instances that are not rated. Readers who know the rated ones
can therefore recognize test questions, so a release made while ratings of the task are
being collected numbers the rated instances instead of naming them.
"""

import re
from collections.abc import Collection, Mapping

_NUMBERED = re.compile(r"judged-(\d+)")


def number_instances(
    judged: Collection[str], position_of: Mapping[str, int]
) -> dict[str, str]:
    """Map the rated instances to numbers in their order in the task.

    The order is kept because bootstraps are rebuilt from it. The positions are not,
    because gaps would reveal which instances are not rated.
    """
    in_order = sorted(judged, key=position_of.__getitem__)
    return {name: f"judged-{n:05d}" for n, name in enumerate(in_order, start=1)}


class Places(dict[str, int]):
    """Positions of instances in the task, or of numbered instances among the rated."""

    def __missing__(self, name: str) -> int:
        if (match := _NUMBERED.fullmatch(name)) is None:
            raise KeyError(name)
        # numbers keep the instances' order, and only the order affects the bootstrap
        return int(match[1])
