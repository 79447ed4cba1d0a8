"""What has changed on a board since a day: who is new, and who moved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np

from genie.lib.moment import read_moment
from leaderboard.boards.selectors.columns import Field, Place, field_of
from leaderboard.submissions.models.submission import Submission
from leaderboard.tasks.models import Task

# As boards print scores: what is less is not seen to move.
_SEEN = 0.05


@dataclass(frozen=True)
class Standing:
    """A rank and score; `ranks` is None for a score that is not ranked."""

    ranks: tuple[int, int] | None
    mean: float

    @property
    def places(self) -> str:
        """Give the ranks in words: "2", "2–4", or that there is none."""
        if self.ranks is None:
            return "not ranked"
        first, last = self.ranks
        return f"{first}" if first == last else f"{first}–{last}"


@dataclass(frozen=True)
class Change:
    """One system then and now; `before` is None where it had no score yet."""

    pk: int
    system: str
    simulated: bool
    before: Standing | None
    now: Standing

    @property
    def moved(self) -> bool:
        """Tell whether its ranks are others, not only its score."""
        return self.before is not None and self.before.ranks != self.now.ranks

    @property
    def difference(self) -> float:
        return self.now.mean - self.before.mean if self.before else 0.0


@dataclass(frozen=True)
class Changes:
    """The public systems of a board against the end of a day, best first."""

    since: date
    new: list[Change]
    moved: list[Change]
    # the ranks are as they were, the score is not
    rescored: list[Change]
    n_same: int


def changes_since(task: Task, day: date) -> Changes | None:
    """Compare the board with that at the end of a day; None of days to come.

    Systems that have been withdrawn since are in neither.
    """
    end = read_moment(day.isoformat())
    if end is None:
        return None
    now = _standings(field_of(task, frozenset()))
    before = _standings(field_of(task, frozenset(), end))
    names = {
        pk: (system, simulated)
        for pk, system, simulated in Submission.objects.filter(pk__in=now).values_list(
            "pk", "system_name", "simulated"
        )
    }
    found = [
        Change(pk, *names[pk], before=before.get(pk), now=standing)
        for pk, standing in now.items()
    ]
    old = [change for change in found if change.before is not None]
    still = [change for change in old if not change.moved]
    rescored = [change for change in still if abs(change.difference) >= _SEEN]
    return Changes(
        day,
        [change for change in found if change.before is None],
        [change for change in old if change.moved],
        rescored,
        len(still) - len(rescored),
    )


def _standings(field: Field) -> dict[int, Standing]:
    """Give the scored systems, best first, those without ranks last."""
    order = np.lexsort((-field.pk, -field.mean, ~field.ranked))
    places: list[tuple[Place, float]] = [
        (field.place(int(i)), float(field.mean[i])) for i in order if field.scored[i]
    ]
    return {place.pk: Standing(place.ranks, mean) for place, mean in places}
