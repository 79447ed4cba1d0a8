"""What came back from the bank, PayPal or Wise: read as a whole, or refused by line."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

from django.db import transaction

from crowd.money.models import Payout
from crowd.money.services.payouts import (
    FAILED,
    PAID,
    RETURNED,
    Outcome,
    contradiction,
    lock,
    settle,
)
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import AbstractBaseUser

MAX_ROWS = 20_000
# how many bad lines are named
SHOWN = 20
_COLUMNS = {
    "id": ("id", "reference", "paymentreference", "endtoendid", "customer id"),
    "state": ("state", "status"),
    "reason": ("reason", "error", "note"),
}
_WORDS = {
    PAID: ("paid", "completed", "complete", "success", "sent"),
    FAILED: ("failed", "rejected", "denied", "blocked", "cancelled", "canceled"),
    RETURNED: ("returned", "refunded", "reversed", "bounced"),
    # nothing is known yet
    "": ("pending", "processing", "unclaimed", "onhold"),
}
_MEANING = {word: meaning for meaning, words in _WORDS.items() for word in words}


def take_in(text: str, by: AbstractBaseUser) -> int:
    """Take in a file of results; return how many payouts changed.

    Raises
    ------
    GenieError
        ``bad-results``, with a sentence for each bad line in ``details["lines"]``;
        nothing is written then.
    """
    rows = _read(text)
    with transaction.atomic():
        lock()
        names = {name for _, name, _, _ in rows}
        found = {
            one.reference: one for one in Payout.objects.filter(reference__in=names)
        }
        outcomes, problems = _outcomes(rows, found)
        if problems:
            raise _bad(problems)
        return settle(outcomes.values(), by)


def _outcomes(
    rows: list[tuple[int, str, str, str]], found: Mapping[str, Payout]
) -> tuple[dict[int, Outcome], list[str]]:
    outcomes: dict[int, Outcome] = {}
    problems = []
    for line, name, state, reason in rows:
        word = _MEANING.get(state)
        payout = found.get(name)
        if payout is None:
            problem = f"there is no payout {name[:40] or 'without an id'}"
        elif word is None:
            problem = f"{state[:40] or 'nothing'} is not paid, failed or returned"
        elif not word:
            continue
        elif outcomes.get(payout.pk, Outcome(payout.pk, word)).word != word:
            problem = f"{name} stands above with another state"
        elif not (problem := contradiction(payout, word)):
            outcomes[payout.pk] = Outcome(payout.pk, word, reason)
        if problem:
            problems.append(f"Line {line}: {problem}.")
    return outcomes, problems


def _read(text: str) -> list[tuple[int, str, str, str]]:
    """Read line, id, state and reason of each row."""
    lines = text.removeprefix("\ufeff")
    mark = ";" if ";" in lines.partition("\n")[0] else ","
    reader = csv.reader(StringIO(lines, newline=""), delimiter=mark, strict=True)
    rows = []
    where: dict[str, int] = {}
    begins = 1
    try:
        for cells in reader:
            if not where:
                where = _places(cells)
            elif any(cells):
                part = {
                    name: cells[at].strip() if at < len(cells) else ""
                    for name, at in where.items()
                }
                state = part["state"].casefold().replace(" ", "")
                rows.append((begins, part["id"], state, part.get("reason", "")))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _bad([f"Line {begins}: {error}."]) from None
    if not rows or len(rows) > MAX_ROWS:
        raise _bad([f"The file must have 1 to {MAX_ROWS:,} rows below its header."])
    return rows


def _places(cells: list[str]) -> dict[str, int]:
    names = [cell.strip().casefold() for cell in cells]
    where = {
        wanted: names.index(name)
        for wanted, known in _COLUMNS.items()
        for name in reversed(known)
        if name in names
    }
    missing = [name for name in ("id", "state") if name not in where]
    if missing:
        raise _bad([f"Line 1: there is no column {' and no column '.join(missing)}."])
    return where


def _bad(problems: list[str]) -> GenieError:
    more = [f"And {len(problems) - SHOWN:,} more."] if len(problems) > SHOWN else []
    return GenieError(
        "Nothing was taken in: the file has lines that cannot be right.",
        code="bad-results",
        details={"lines": [*problems[:SHOWN], *more]},
    )
