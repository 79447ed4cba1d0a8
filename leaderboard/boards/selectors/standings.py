"""A task's board: the ranked systems and their uncertainty.

Ranks need every score of the task, but a page needs only the details of its own rows:
the order is made from one narrow query, and rows are fetched on access. The number of
queries does not depend on the number of submissions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, overload

import numpy as np

from genie.lib.serving.computed_once import computed_once
from leaderboard.boards.selectors.columns import Field, Ints, field_of
from leaderboard.boards.selectors.filtering import ALL, Filter, matching_pks
from leaderboard.boards.selectors.rows import Row, fetch_rows
from leaderboard.boards.selectors.sorting import DEFAULT, Order, arranged
from leaderboard.boards.selectors.version import KEPT_FROM_ROWS, KEPT_SECONDS, State
from leaderboard.evaluation.selectors.progress import any_judged
from leaderboard.submissions.selectors import team_ids
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


@dataclass(frozen=True)
class Extent:
    low: float
    high: float
    leader_low: float


class Standings(Sequence[Row]):
    """The rows of a board in order; slices are fetched from the database each time."""

    def __init__(
        self,
        task: Task,
        field: Field,
        teams: frozenset[int],
        order: Order,
        *,
        chosen: Filter = ALL,
        at: datetime | None = None,
        apart: bool = False,
    ) -> None:
        self.task = task
        self.order = order
        self.at = at
        self._field = field
        self._teams = teams
        self.n_all = len(field)
        # private rows have hypothetical ranks, so they are not counted among the ranked
        self.n_ranked = int((field.ranked & ~field.private).sum())
        self.all_provisional = bool(
            field.ranked.any() and not (field.ranked & ~field.provisional).any()
        )
        self.provisional_apart = field.provisional_apart
        self.n_partial = int(field.partial.sum())
        self.n_pending = int((~field.scored).sum())
        # of the ranked systems: the least and the most instances behind a score
        judged = field.n[field.ranked]
        self.n_judged = (int(judged.min()), int(judged.max())) if len(judged) else None
        self.n_simulated = int(field.simulated.sum())
        self.n_rated_by_people = int((field.scored & ~field.simulated).sum())
        self.n_rated_by_programs = int((field.scored & field.simulated).sum())
        self.extent = _extent(field)
        self._in_order = _filtered(
            task, field, arranged(task, field, order, at, apart=apart), chosen, teams
        )

    @property
    def all_simulated(self) -> bool:
        return self.n_simulated > 0 and self.n_simulated == self.n_all

    @property
    def ranks_made_again(self) -> bool:
        return self.at is not None and self._field.by_scores and self.n_ranked > 1

    def kept(self, now: State) -> tuple[Row, ...]:
        """Return all rows; those of a long public board are fetched once per version."""
        if self.at is not None or self._teams or self.n_all < KEPT_FROM_ROWS:
            return tuple(self)
        rows = computed_once(now.key("rows"), self._rows_of_all, KEPT_SECONDS)
        chosen = (int(pk) for pk in self._field.pk[self._in_order])
        # a system may have been published since the rows were fetched
        return tuple(rows[pk] for pk in chosen if pk in rows)

    def _rows_of_all(self) -> dict[int, Row]:
        places = [self._field.place(i) for i in range(self.n_all)]
        return {
            row.pk: row for row in fetch_rows(self.task, places, self._teams, self.at)
        }

    @property
    def nobody_asked(self) -> bool:
        """Check that there is no answer at all yet, not even one without a score."""
        scored = self.n_rated_by_people or self.n_rated_by_programs
        return not scored and not any_judged(self._field.pk.tolist())

    def row_of(self, pk: int) -> Row | None:
        indices = np.flatnonzero(self._field.pk == pk)
        if not len(indices):
            return None
        place = self._field.place(int(indices[0]))
        return fetch_rows(self.task, [place], self._teams, self.at)[0]

    def __len__(self) -> int:
        return len(self._in_order)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            places = [self._field.place(int(i)) for i in self._in_order[index]]
            return fetch_rows(self.task, places, self._teams, self.at)
        place = self._field.place(int(self._in_order[index]))
        return fetch_rows(self.task, [place], self._teams, self.at)[0]

    def __iter__(self) -> Iterator[Row]:
        return iter(self[:])


def standings(
    task: Task,
    viewer: AbstractBaseUser | AnonymousUser | None = None,
    order: Order = DEFAULT,
    *,
    chosen: Filter = ALL,
    at: datetime | None = None,
    teams: frozenset[int] | None = None,
    apart: bool = False,
) -> Standings:
    """Return the board as the viewer sees it, with their teams' private submissions.

    Private rows have hypothetical ranks; they do not affect others. A filter hides rows
    and changes no ranks. With `at`, the board is that of a moment, without submissions
    withdrawn since. `teams` are the viewer's, if they are known already. With `apart`,
    provisional rows are below those that are final.
    """
    if teams is None:
        teams = team_ids(viewer)
    return Standings(
        task, field_of(task, teams, at), teams, order, chosen=chosen, at=at, apart=apart
    )


def _filtered(
    task: Task, field: Field, indices: Ints, chosen: Filter, teams: frozenset[int]
) -> Ints:
    keep = np.ones(len(field), dtype=np.bool_)
    if chosen.scored:
        keep &= field.scored
    if chosen.kind:
        keep &= field.simulated == (chosen.kind == "simulated")
    pks = matching_pks(task, chosen, teams)
    if pks is not None:
        keep &= np.isin(field.pk, pks)
    return indices[keep[indices]]


def _extent(field: Field) -> Extent | None:
    scored, ranked = field.scored, field.ranked
    if not scored.any():
        return None
    # private rows do not lead, and partial ones only if there are no others
    choices = (ranked & ~field.private, ranked, scored)
    leading = next(rows for rows in choices if rows.any())
    means = np.where(leading, field.mean, -np.inf)
    return Extent(
        low=float(field.low[scored].min()),
        high=float(field.high[scored].max()),
        leader_low=float(field.low[int(np.argmax(means))]),
    )
