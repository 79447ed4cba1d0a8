"""Health checks of a site: a list of examinations, each with one finding in words.

Upper apps add their own with `register`. The command `doctor` shows all findings, the
page for staff and the e-mails about trouble only the fast ones.
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
    """The result of an examination: its severity, and a sentence.

    `points` are single problems, each reported to a person once: a stable name to a
    sentence with the solution.
    """

    verdict: str
    sentence: str
    points: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Examination:
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
    _EXAMINATIONS[name] = Examination(name, look, slow, needs_database)


def examine(*, slow: bool) -> Iterator[tuple[str, Finding]]:
    """Run the examinations, one by one; a failing one is a finding itself."""
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
            finding = Finding(PROBLEM, f"cannot be checked: {one_line(error)}")
        yield one.name, finding


def worst(n_problems: int, n_warnings: int = 0) -> str:
    return PROBLEM if n_problems else WARNING if n_warnings else OK
