"""Names in files, and the names that database columns can store."""

import hashlib
from collections.abc import Callable, Iterable

# The columns' lengths: a submission's name, an instance's id, a criterion.
SYSTEM, INSTANCE, CRITERION = 100, 200, 50
NOT_SAID, OVERALL = "not said", "overall"
# The criterion of scores from marks (`leaderboard.designs.one_output`).
_TAKEN = "spans"


def fitting(names: Iterable[str], longest: int) -> dict[str, str]:
    """Return each name as it is stored: shortened to `longest`, and never empty.

    Examples
    --------
    >>> fitting(["a", ""], 100)
    {'a': 'a', '': 'not said'}
    >>> len(fitting(["x" * 90], 50)["x" * 90])
    50
    """
    return _distinct(names, lambda name: _short(name, longest) or NOT_SAID)


def criteria(names: Iterable[str]) -> dict[str, str]:
    """Return criteria as they are stored: addresses and caches allow no blanks.

    Examples
    --------
    >>> criteria(["", "Overall quality", "spans"])
    {'': 'overall', 'Overall quality': 'Overall-quality', 'spans': 'marked-spans'}
    """
    return _distinct(names, _criterion)


def _criterion(name: str) -> str:
    # an @ is a slot in names of questions
    kept = "-".join(_short(name.replace("@", " at "), CRITERION).split())
    return f"marked-{kept}" if kept == _TAKEN else kept or OVERALL


def _distinct(names: Iterable[str], keep: Callable[[str], str]) -> dict[str, str]:
    kept: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        one, n = keep(name), 2
        while one in taken:
            one, n = f"{keep(name)[:40]}-{n}", n + 1
        kept[name] = one
        taken.add(one)
    return kept


def _short(name: str, longest: int) -> str:
    plain = name.replace("\0", "").strip()
    if len(plain) <= longest:
        return plain
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain[: longest - 9]}~{digest}"


def changed(names: dict[str, str]) -> dict[str, str]:
    """Return the names that are stored differently: as stored, and as found."""
    return {kept: name for name, kept in names.items() if kept != name}
