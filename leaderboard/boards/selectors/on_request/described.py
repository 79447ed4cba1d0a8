"""What submitters say of their systems: who made them, weights, size, licence, a link."""

from __future__ import annotations

from dataclasses import dataclass, field

from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import ON_BOARD
from leaderboard.tasks.models import Task

ORGANIZATION, WEIGHTS, PARAMETERS, LICENCE, LINK = (
    "organization",
    "weights",
    "parameters",
    "licence",
    "link",
)
# the columns that can be chosen, with their heads, in the board's order
COLUMNS = {
    ORGANIZATION: "Organization",
    WEIGHTS: "Weights",
    PARAMETERS: "Size",
    LICENCE: "Licence",
    LINK: "Link",
}
# a row that is nobody's system, or just a system
NO_BASELINE = "none"
BASELINES: dict[str, str] = {
    Submission.Baseline.REFERENCE.value: "human reference",
    Submission.Baseline.BASELINE.value: "baseline",
    NO_BASELINE: "no baseline",
}
# A list that is longer is not chosen from, and longer texts are searched for.
_MOST = 500


@dataclass(frozen=True)
class Described:
    """What is said of one system; empty is not said, or not told of an anonymous one."""

    organization: str = ""
    weights: str = ""
    parameters: str = ""
    licence: str = ""
    links: tuple[str, ...] = ()
    baseline: str = ""

    @property
    def link(self) -> str:
        return self.links[0] if self.links else ""

    @property
    def mark(self) -> str:
        """Name what a row is beside a system: a human reference, a baseline."""
        return BASELINES.get(self.baseline, "")

    def shown(self, key: str) -> str:
        """Give what stands in a column."""
        return str(getattr(self, key))


NOTHING = Described()
FIELDS = ("organization", "weights", "parameters", "licence", "links", "baseline")


def described(values: dict[str, object], *, named: bool) -> Described:
    """Read a submission's values; all but its kind could name an anonymous one's team."""
    baseline = str(values["baseline"])
    if not named:
        return Described(baseline=baseline)
    links = values["links"]
    return Described(
        organization=str(values["organization"]),
        weights=str(values["weights"]),
        parameters=str(values["parameters"]),
        licence=str(values["licence"]),
        links=tuple(map(str, links)) if isinstance(links, list) else (),
        baseline=baseline,
    )


@dataclass(frozen=True)
class Said:
    """What a board's systems say at all: its columns, and what can be filtered by."""

    columns: frozenset[str] = frozenset()
    organizations: list[str] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    licences: list[str] = field(default_factory=list)
    baselines: list[str] = field(default_factory=list)


def said_on(task: Task) -> Said:
    """Tell what the systems of a board say; one query.

    Anonymous systems say nothing here: what may be chosen would name who made them.
    """
    rows = list(
        Submission.objects.filter(
            task=task,
            visibility=Submission.Visibility.PUBLIC,
            state__in=ON_BOARD,
            anonymous_until=None,
        )
        .exclude(
            organization="",
            weights="",
            parameters="",
            licence="",
            links=[],
            baseline="",
        )
        .order_by()
        .values_list(*FIELDS)
        .distinct()[:_MOST]
    )
    organizations, weights, parameters, licences, links, baselines = (
        [row[place] for row in rows if row[place]] for place in range(len(FIELDS))
    )
    values = (organizations, weights, parameters, licences, links)
    return Said(
        frozenset(key for key, found in zip(COLUMNS, values, strict=True) if found),
        sorted({*organizations}, key=str.casefold),
        sorted({*weights}, reverse=True),
        sorted({*licences}, key=str.casefold),
        [key for key in BASELINES if key in baselines],
    )
