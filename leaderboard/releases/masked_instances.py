"""Names for judged instances while test questions are in use.

Test questions are made of instances that are not judged. Whoever knows which ones are
judged can therefore recognise test questions, so a release made while anything of the
task is being judged numbers the judged instances instead of naming them.
"""

import re
from collections.abc import Collection, Mapping

_NUMBERED = re.compile(r"judged-(\d+)")


def numbered(judged: Collection[str], position_of: Mapping[str, int]) -> dict[str, str]:
    """Give a number to each judged instance, in their order in the task.

    The order is kept because bootstraps are rebuilt from it; places are not, as gaps
    would tell what is not judged.
    """
    in_order = sorted(judged, key=position_of.__getitem__)
    return {name: f"judged-{n:05d}" for n, name in enumerate(in_order, start=1)}


class Places(dict[str, int]):
    """Places of instances in the task, or of numbered instances among the judged."""

    def __missing__(self, name: str) -> int:
        """Read the number of an instance that is not named."""
        if (match := _NUMBERED.fullmatch(name)) is None:
            raise KeyError(name)
        # numbers keep the instances' order, and only the order enters the bootstrap
        return int(match[1])
