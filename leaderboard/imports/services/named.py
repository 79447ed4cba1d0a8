"""Names as files have them, and as columns of ours can hold them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

# As long as the columns are: a submission's name, an instance's id, a criterion.
SYSTEM, INSTANCE, CRITERION = 100, 200, 50
NOT_SAID = "not said"


def fitting(names: Iterable[str], longest: int) -> dict[str, str]:
    """Give each name as it is kept: shortened where it is too long, and never empty.

    Examples
    --------
    >>> fitting(["a", ""], 50)
    {'a': 'a', '': 'not said'}
    >>> len(fitting(["x" * 90], 50)["x" * 90])
    50
    """
    return {name: _fitting(name, longest) for name in dict.fromkeys(names)}


def _fitting(name: str, longest: int) -> str:
    # an @ stands for a slot in names of questions; NUL is stored by no database
    plain = (
        name.replace("\0", "").replace("@", " at ") if longest == CRITERION else name
    )
    plain = plain.replace("\0", "").strip()
    if plain == "spans" and longest == CRITERION:
        plain = "marked spans"
    if plain and len(plain) <= longest:
        return plain
    if not plain:
        return NOT_SAID
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain[: longest - 9]}~{digest}"


def changed(names: dict[str, str]) -> dict[str, str]:
    """Give those that are kept otherwise than found: as kept, and as found."""
    return {kept: name for name, kept in names.items() if kept != name}
