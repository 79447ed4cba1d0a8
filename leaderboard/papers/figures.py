"""Sets of figures that are computed from any ratings.

A figure's id is `PART/ROW/NAME`. The part is a language pair, a campaign or a
criterion; the row is a system, a pair `A>B` or a judge. A figure of the whole has no
row.
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
#: Layouts, scores and other settings of a set of figures.
Settings = Mapping[str, Any]


class Figures(ABC):
    #: Prefix of the figures' names: `da` and `wins` make `da-wins`.
    slug: str
    title: ClassVar[str]
    #: Name of each figure, with a description.
    names: ClassVar[Mapping[str, str]]
    #: The most likely layouts of files.
    layouts: ClassVar[tuple[str, ...]] = ()
    #: Whether ratings of several criteria belong together.
    pooled: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def of(cls, judgments: Judgments, settings: Settings) -> Computed:
        """Compute all figures that these ratings have, by `ROW/NAME`.

        Raises
        ------
        GenieError, ValueError
            If they cannot be computed from such ratings.
        """


def all_figures() -> dict[str, type[Figures]]:
    return discover("leaderboard.papers.figure_sets", Figures)


def under(part: str, figures: Mapping[str, Value]) -> Computed:
    """Prefix figures with a part; the empty one changes nothing."""
    return {f"{part}/{id}" if part else id: value for id, value in figures.items()}


def by_row(name: str, values: Mapping[str, Any] | pd.Series) -> Computed:
    """Return one figure of many rows, by `ROW/NAME`."""
    return {f"{row}/{name}": plain(value) for row, value in values.items()}


def plain(value: Any) -> Value:
    """Return a value for a cell: ranges of ranks as `1-3`, True and False as words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "-".join(f"{each:g}" for each in value)
    return value if isinstance(value, str) else float(value)


def ranks(means: Mapping[str, float] | pd.Series) -> Computed:
    """Return ranks from the highest mean down; ties are ordered by name."""
    order = sorted(means.items(), key=lambda pair: (-pair[1], pair[0]))
    return {str(name): float(place) for place, (name, _) in enumerate(order, 1)}


def asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first criterion.

    If people gave a score, their error marks are a second row, with an MQM score.
    """
    return rows[rows["criterion"] == rows["criterion"].iloc[0]] if len(rows) else rows
