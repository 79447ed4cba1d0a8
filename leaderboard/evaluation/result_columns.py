"""The columns of result rows: the one declaration of their fields and outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db.models import (
    BigIntegerField,
    BooleanField,
    CharField,
    Field,
    FloatField,
    IntegerField,
    PositiveIntegerField,
    Q,
    TextField,
)

from genie.lib.database import OrderedJSONField

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.designs.base import Unit
    from leaderboard.stats.systems.estimates import SystemEstimates

# A column is a field of `Score` and part of these outputs. Boards' JSON has those of
# `board`; boards in the API have those that are in both. A release has them in its table
# with Parquet, in Croissant and in its README; `rebuild` computes them again.
EVERYWHERE = frozenset({"board", "csv", "api", "release", "log"})
_NOT_LOGGED = EVERYWHERE - {"log"}
_NO_CELLS = _NOT_LOGGED - {"csv"}
_DRAWN = frozenset({"board", "release"})
_PAGE_AND_API = frozenset({"board", "api"})
_API, _LOG, _RELEASE = frozenset({"api"}), frozenset({"log"}), frozenset({"release"})
_KINDS: dict[type[Field[Any, Any]], str] = {
    BooleanField: "true or false",
    CharField: "text",
    FloatField: "number",
    IntegerField: "integer",
    OrderedJSONField: "object",
    TextField: "text",
}
_INTERVAL = "95% interval"


@dataclass(frozen=True)
class Column:
    name: str
    # the type, also of a column that is not stored
    field: Field[Any, Any]
    description: str
    outputs: frozenset[str] = EVERYWHERE
    # Computed with the result, and again by `rebuild`, from the ratings that count
    # (instance, worker, value) and their unit. A worker is null if not identified.
    compute: Callable[[pd.DataFrame, Unit], Any] | None = None
    # or from the fit of a board's systems, by the number of one; null without the raters.
    # Older scores get it with a new `refit.VERSION`.
    from_fit: Callable[[SystemEstimates, int], float] | None = None
    # the least and the largest value that the database accepts
    bounds: tuple[float | None, float | None] = (None, None)
    # lookup from the row, if it is stored elsewhere; "" if only releases have it
    path: str | None = None
    # the API's schema leaves out the description
    plain: bool = False

    @property
    def kind(self) -> str:
        return next(k for of, k in _KINDS.items() if isinstance(self.field, of))


def _histogram(ratings: pd.DataFrame, unit: Unit) -> dict[str, int]:
    import numpy as np

    values, counts = np.unique(
        unit.put_into_bins(ratings["value"].to_numpy(float)), return_counts=True
    )
    return dict(zip((f"{v:g}" for v in values), counts.tolist(), strict=True))


def _rank() -> PositiveIntegerField[Any, Any]:
    return PositiveIntegerField(null=True, blank=True)


# A column that is added later accepts null: older scores and releases lack it.
COLUMNS = (
    Column("criterion", CharField(max_length=50), "Name of the question.", plain=True),
    Column("mean", FloatField(), "The score.", plain=True),
    Column("low", FloatField(), f"Lower end of the {_INTERVAL}."),
    Column("high", FloatField(), f"Upper end of the {_INTERVAL}."),
    # boards draw the inner interval thick
    Column("low_50", FloatField(null=True), "Lower end of the 50% interval.", _DRAWN),
    Column("high_50", FloatField(null=True), "Upper end of the 50% interval.", _DRAWN),
    Column("n", PositiveIntegerField(), "Instances with a rating that counts."),
    Column(
        "of",
        PositiveIntegerField(),
        "Instances in the sample.",
        _NOT_LOGGED - _RELEASE,
        path="evaluation__n_instances",
    ),
    Column(
        "n_workers",
        PositiveIntegerField(),
        "Raters whose ratings count.",
        compute=lambda ratings, _unit: int(ratings["worker"].nunique()),
        plain=True,
    ),
    Column(
        "n_excluded_workers",
        PositiveIntegerField(default=0),
        "Raters whose ratings are excluded.",
        _API | _RELEASE | _LOG,
        plain=True,
    ),
    Column(
        "histogram",
        OrderedJSONField(default=dict),
        "Rating value to count.",
        _API | _RELEASE,
        compute=_histogram,
    ),
    Column(
        "covers",
        CharField(max_length=200),
        f"What the {_INTERVAL} covers, in words; usually: “which workers rated the "
        "outputs and which instances were drawn”.",
        _NOT_LOGGED,
    ),
    Column(
        "provisional",
        BooleanField(default=False),
        "True while open decisions could change which ratings count. After that, a "
        "score changes at most once a day.",
        _NOT_LOGGED,
    ),
    Column(
        "reason",
        CharField(max_length=300, blank=True),
        "Why it replaced an earlier published score.",
        _RELEASE,
    ),
    Column("scale", CharField(), "The scale of the ratings.", _RELEASE, path=""),
    Column("asked", BooleanField(), "False for a checkbox.", _RELEASE, path=""),
    Column(
        "seed", BigIntegerField(), "Seed of resampling.", _API | _RELEASE, plain=True
    ),
    Column(
        "n_resamples", PositiveIntegerField(), "Number of resamples.", _RELEASE, path=""
    ),
    Column(
        "ratings_sha256",
        CharField(max_length=64),
        "Hash of the ratings: the same ratings give the same score.",
        _LOG,
    ),
    # An unranked score has no ranks. The others' are by the comparisons of `Score.fit`.
    Column(
        "rank_first", _rank(), "Best rank.", _API | _LOG, bounds=(1, None), plain=True
    ),
    Column(
        "rank_last", _rank(), "Worst rank.", _API | _LOG, bounds=(1, None), plain=True
    ),
    Column(
        "signature",
        CharField(max_length=500),
        "How the score was computed, with versions.",
        plain=True,
    ),
    # mean, low, high, low_50, high_50 and covers of each
    Column(
        "estimates",
        OrderedJSONField(default=dict),
        "All estimates by name: `adjusted` (free of who judged what; a mixed model of all "
        "systems, with an interval that covers other raters), `plain` (this crowd's mean, "
        "with the bootstrap over instances) and, if the task asks for it, `z` (per rater). "
        "`mean`, `low` and `high` are those of the one that the task ranks by.",
        _NOT_LOGGED,
    ),
    Column(
        "effective_workers",
        FloatField(null=True, blank=True),
        "The equivalent number of equally busy raters.",
        _NO_CELLS,
        from_fit=lambda fit, number: fit.effective_workers[number],
        bounds=(0, None),
    ),
    Column(
        "largest_share",
        FloatField(null=True, blank=True),
        "Weight of the rater who counts most, 0 to 1.",
        _NO_CELLS,
        from_fit=lambda fit, number: fit.largest_share[number],
        bounds=(0, None),
    ),
    Column(
        "cluster",
        _rank(),
        "Its group of systems; 1 is the best.",
        _API | _RELEASE,
        bounds=(1, None),
        plain=True,
    ),
)


# Of a system in a joint evaluation; boards' scores have null in the last ones.
_joint = partial(Column, outputs=EVERYWHERE - {"csv"})
_inner = partial(Column, outputs=_DRAWN | _LOG)
_preferred = partial(Column, outputs=_NO_CELLS)
JOINT_COLUMNS = (
    _joint(
        "mean",
        FloatField(),
        "Geometric mean magnitude; 100 is as good as the reference output.",
    ),
    _joint("low", FloatField(), f"Lower end of its {_INTERVAL}.", plain=True),
    _joint("high", FloatField(), f"Upper end of its {_INTERVAL}.", plain=True),
    _inner("low_50", FloatField(), "Lower end of its 50% interval."),
    _inner("high_50", FloatField(), "Upper end of its 50% interval."),
    _joint(
        "cluster",
        IntegerField(),
        "Every system of a cluster is significantly better than every system of the next; "
        "1 is the best.",
    ),
    _joint("rank_first", IntegerField(), "Best rank.", plain=True),
    _joint("rank_last", IntegerField(), "Worst rank.", plain=True),
    _preferred(
        "skill",
        FloatField(),
        f"TrueSkill, as the difference to the mean of these systems; its {_INTERVAL} "
        "covers other raters.",
    ),
    _preferred(
        "skill_low", FloatField(null=True), "Null if one rater made all comparisons."
    ),
    _preferred("skill_high", FloatField(null=True), "Its upper end.", plain=True),
    _preferred("skill_cluster", IntegerField(), "Cluster by TrueSkill.", plain=True),
    _preferred(
        "skill_rank_first",
        IntegerField(),
        "Best TrueSkill rank over 20 random orders of the comparisons.",
        outputs=_PAGE_AND_API,
    ),
    _preferred(
        "skill_rank_last",
        IntegerField(),
        "Worst TrueSkill rank over these orders.",
        outputs=_PAGE_AND_API,
        plain=True,
    ),
    _preferred(
        "skill_rank_kept",
        FloatField(),
        "Share of these orders in which the system has the rank that `skill`, their mean, "
        "gives it.",
        outputs=_PAGE_AND_API,
    ),
    _preferred(
        "strength",
        FloatField(null=True),
        "Bradley–Terry strength, ties after Davidson: log-odds of being preferred to the "
        f"average system; its {_INTERVAL} covers other raters. Null if the "
        f"comparisons allow no estimate; see `no_strengths`.",
    ),
    _preferred("strength_low", FloatField(null=True), "Its lower end.", plain=True),
    _preferred("strength_high", FloatField(null=True), "Its upper end.", plain=True),
)


# by the name of the table that a release has them in
def tables() -> dict[str, tuple[Column, ...]]:
    return {"scores": COLUMNS, "joint_results": JOINT_COLUMNS}


def columns_of(output: str, table: str = "scores") -> list[Column]:
    return [column for column in tables().get(table, ()) if output in column.outputs]


def board_columns(output: str = "board") -> list[Column]:
    # the provisional mark is last
    chosen = [column for column in columns_of("board") if output in column.outputs]
    return sorted(chosen, key=lambda column: column.name == "provisional")


def stored_fields() -> dict[str, Field[Any, Any]]:
    fields = {column.name: column.field.clone() for column in JOINT_COLUMNS}
    for field in fields.values():
        field.null, field.editable = True, False
    return fields | {c.name: c.field for c in COLUMNS if c.path is None}


def compute_columns(ratings: pd.DataFrame, unit: Unit) -> dict[str, Any]:
    return {
        column.name: column.compute(ratings, unit)
        for column in COLUMNS
        if column.compute is not None
    }


def fit_columns(fit: SystemEstimates | None, number: int = 0) -> dict[str, Any]:
    return {
        column.name: None if fit is None else float(column.from_fit(fit, number))
        for column in COLUMNS
        if column.from_fit is not None
    }


def joint_row(row: Mapping[str, Any], output: str) -> dict[str, Any]:
    return {c.name: row[c.name] for c in columns_of(output, "joint_results")}


def within_bounds() -> Q:
    ends = [
        (f"{column.name}__{lookup}", end)
        for column in COLUMNS
        for lookup, end in zip(("gte", "lte"), column.bounds, strict=True)
        if end is not None
    ]
    return Q(*ends)
