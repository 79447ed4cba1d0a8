"""Sets of figures that are computed from anybody's judgments, each under a name of its own.

A figure's id is what it belongs to and its name: `PART/ROW/NAME`. The part is a language
pair, a campaign, a criterion; the row a system, a pair `A>B` or a judge; a figure of the
whole has no row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from genie.lib.extension import discover
from leaderboard.papers.cell import Value

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.imports.readers.judgments import Judgments

Computed = dict[str, Value]
#: Layouts, scores and such, where a set of figures depends on them.
Settings = Mapping[str, Any]


class Figures(ABC):
    """Figures that are computed together."""

    #: Name before the figure's: `da` and `wins` make `da-wins`.
    slug: str
    title: ClassVar[str]
    #: Name of each figure, and what it is.
    names: ClassVar[Mapping[str, str]]
    #: Layouts of files that are most likely meant.
    layouts: ClassVar[tuple[str, ...]] = ()
    #: Whether judgments of several criteria belong together.
    pooled: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def of(cls, judgments: Judgments, settings: Settings) -> Computed:
        """Compute all figures that these judgments have, by `ROW/NAME`.

        Raises
        ------
        GenieError, ValueError
            Where they cannot be computed from such judgments.
        """


def all_figures() -> dict[str, type[Figures]]:
    """Find all sets of figures, by slug."""
    return discover("leaderboard.papers.figure_sets", Figures)


def under(part: str, figures: Mapping[str, Value]) -> Computed:
    """Put figures under the name of a part; the empty one changes nothing."""
    return {f"{part}/{id}" if part else id: value for id, value in figures.items()}


def by_row(name: str, values: Mapping[str, Any] | pd.Series) -> Computed:
    """Name one figure of many rows."""
    return {f"{row}/{name}": plain(value) for row, value in values.items()}


def plain(value: Any) -> Value:
    """Write a value as a cell has it: ranges of ranks as `1-3`, yes and no as words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "-".join(f"{each:g}" for each in value)
    return value if isinstance(value, str) else float(value)


def ranks(means: Mapping[str, float] | pd.Series) -> Computed:
    """Count places from the highest mean down; equal ones by name."""
    order = sorted(means.items(), key=lambda pair: (-pair[1], pair[0]))
    return {str(name): float(place) for place, (name, _) in enumerate(order, 1)}


def asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of the first criterion.

    Where a score was asked for, the errors marked beside it give an MQM score as well:
    that is a second row of the same judgment.
    """
    return rows[rows["criterion"] == rows["criterion"].iloc[0]] if len(rows) else rows
