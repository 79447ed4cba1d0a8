"""What may be wrong with a site: a list of examinations, each with one finding in words.

Upper apps add their own with `register`. The command `doctor` shows all findings, the page
for staff and the e-mails about trouble those that take no time.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from django.db import Error as DatabaseProblem
from django.db import connection

from genie.lib.database import database_is_down
from genie.lib.logs import one_line

OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True)
class Finding:
    """What an examination found: how bad it is, and a sentence.

    `points` are single things that a person is told of once each: a lasting name to a
    sentence that says what solves it.
    """

    verdict: str
    sentence: str
    points: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Examination:
    """One question about the site; a slow one reads all that there is."""

    name: str
    look: Callable[[], Finding]
    slow: bool
    needs_database: bool


_EXAMINATIONS: dict[str, Examination] = {}


def register(
    name: str,
    look: Callable[[], Finding],
    *,
    slow: bool = False,
    needs_database: bool = True,
) -> None:
    """Add an examination under a name of its own."""
    _EXAMINATIONS[name] = Examination(name, look, slow, needs_database)


def examine(*, slow: bool) -> Iterator[tuple[str, Finding]]:
    """Carry the examinations out, one by one; one that fails is a finding itself."""
    down = False
    for one in _EXAMINATIONS.values():
        if one.slow and not slow:
            continue
        if one.needs_database and down:
            continue
        try:
            finding = one.look()
        except (DatabaseProblem, OSError) as error:
            down = down or database_is_down(error)
            if connection.connection is not None and not connection.in_atomic_block:
                connection.close()
            finding = Finding(PROBLEM, f"cannot be examined: {one_line(error)}")
        yield one.name, finding


def worst(n_problems: int, n_warnings: int = 0) -> str:
    """Give the verdict for so many problems and warnings."""
    return PROBLEM if n_problems else WARNING if n_warnings else OK
