"""On which scale a criterion was answered, as far as its values tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from crowd.hit_templates.errors import WEIGHTS
from crowd.scales.base import Scale
from crowd.scales.elsewhere import PREFERRED
from crowd.scales.find import all_scales
from genie.lib.errors import GenieError
from leaderboard.imports.kept import MAGNITUDE, Floats, as_found, as_kept

if TYPE_CHECKING:
    import pandas as pd

SLIDER = "slider-100"
MARKED = "error-span-translation"
# Ends that people are shown, the narrowest first.
_USUAL = ((0, 1), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7), (0, 5), (1, 10), (0, 10))
#: Families of scales whose scores are in their own unit: their ends only bound values.
OWN_UNIT = ("z", "sum")
# What an earlier import had: the scale of a criterion, and the import's number.
Before = tuple[str, int]
# Design and HIT template by scale; what is not here is a number.
_ASKED = {
    SLIDER: ("slider", "general-judgement"),
    MAGNITUDE: ("plain-magnitude", "magnitude-judgement"),
    "likert-5": ("direct-assessment", "general-judgement"),
    "likert-6": ("likert-6", "general-judgement"),
    "binary": ("binary", "general-judgement"),
}


@dataclass(frozen=True)
class Measure:
    """How a criterion's values are kept.

    Parameters
    ----------
    scale : str
    lower_is_better : bool
        Values are kept with their sign turned round.
    design, template : str
    """

    scale: str
    lower_is_better: bool = False
    design: str = "number"
    template: str = "general-judgement"

    def kept(self, values: Floats) -> Floats:
        """Turn values as found into ratings."""
        return as_kept(values, self.scale, lower_is_better=self.lower_is_better)

    def found(self, ratings: Floats) -> Floats:
        """Turn ratings into values as found."""
        return as_found(ratings, self.scale, lower_is_better=self.lower_is_better)


def measures(
    rows: pd.DataFrame,
    *,
    lower_is_better: Sequence[str],
    standardised: bool,
    said: Mapping[str, str],
    before: Mapping[str, Before] | None = None,
) -> dict[str, Measure]:
    """Find the measure of each criterion of ratings (`rows` without preferences).

    Of those that a task has `before`, it is theirs; the ends of z-scores and of penalties,
    which no score is in proportion to, move out as far as the values go.
    """
    found, earlier = {}, before or {}
    for name, own in rows.groupby("criterion", sort=False):
        criterion = str(name)
        lower = criterion in lower_is_better
        low, high = float(own["value"].min()), float(own["value"].max())
        if lower:
            low, high = 0.0 - high, 0.0 - low
        slug = said.get(criterion, said.get("*", ""))
        whole = bool((own["value"] % 0.25 == 0).all())
        guess = partial(_scale, standardised=standardised, lower=lower, step=whole)
        if criterion in earlier:
            slug = _further(earlier[criterion], slug, criterion, (low, high), guess)
        slug = slug or guess(low, high)
        check(slug, criterion, low, high)
        found[criterion] = measure(slug, lower=lower, marked=_marked(own["spans"]))
    return found


def _further(
    before: Before,
    said: str,
    criterion: str,
    found: tuple[float, float],
    guess: Callable[[float, float], str],
) -> str:
    """Give the scale of earlier imports, with its ends as far out as values go.

    Raises
    ------
    GenieError
        ``not-on-the-scale``, with what to do: where scores are percent of the way between
        the ends, those of before would become others.
    """
    slug, number = before
    least, most = _ends(all_scales()[slug])
    low, high = min(least, found[0]), max(most, found[1])
    family = slug.partition("_")[0]
    fits = (low, high) == (least, most)
    if fits and said in ("", slug):
        return slug
    if family in OWN_UNIT and said in ("", slug):
        return _named(family, math.floor(low), math.ceil(high))
    raise GenieError(
        f"{criterion!r} was imported on the scale {slug}, from {least:g} to {most:g}, and "
        f"these values go from {found[0]:g} to {found[1]:g}"
        f"{f', on {said} as you say' if said else ''}. Scores are percent of the way "
        f"between the ends, so the earlier ones would become others. Take import {number} "
        f"back (genie import-judgments --take-back {number}) and import its files again "
        f"with --scale {criterion or '*'}={said or guess(low, high)}, then these.",
        code="not-on-the-scale",
    )


def check(slug: str, criterion: str, low: float, high: float) -> None:
    """Refuse a scale that the values are not on.

    Raises
    ------
    GenieError
        ``not-on-the-scale``.
    """
    if slug not in all_scales():
        raise GenieError(f"There is no scale {slug!r}.", code="unknown-scale")
    least, most = _ends(all_scales()[slug])
    if not least <= low <= high <= most:
        raise GenieError(
            f"The values of {criterion!r} go from {low:g} to {high:g}, and the scale "
            f"{slug} from {least:g} to {most:g}.",
            code="not-on-the-scale",
        )


def _ends(scale: type[Scale]) -> tuple[float, float]:
    values = [option.value for option in scale.options]
    ends = values or [scale.minimum, scale.maximum]
    return min(ends), max(ends)


def _scale(
    low: float, high: float, *, standardised: bool, lower: bool, step: bool
) -> str:
    ends = math.floor(low), math.ceil(high)
    if ends[0] == ends[1]:
        ends = ends[0], ends[1] + 1
    if standardised:
        return _named("z", *ends)
    if low >= 0.01 and 100 < high <= 1_000_000:
        # without an upper end that anybody keeps to: how many times as good
        return MAGNITUDE
    if lower or low < -10 or high > 100 or (low < 0 and high <= 0):
        return _named("sum", *ends)
    if step:
        for least, most in _USUAL:
            if least <= low and high <= most:
                return _named("number", least, most)
    if low >= 0 and 1 < high <= 100:
        return SLIDER if high > 10 else _named("number", 0, 10)
    if low >= 0:
        return _named("number", 0, 1)
    widest = max(-ends[0], ends[1])
    return _named("number", -widest, widest)


def _named(family: str, low: float, high: float) -> str:
    return f"{family}_{low:.0f}_{high:.0f}"


def measure(slug: str, *, lower: bool = False, marked: bool = False) -> Measure:
    """Give how ratings on a scale are kept and shown; `marked`: with errors marked."""
    if slug == SLIDER and marked:
        return Measure(slug, lower, "error-spans", MARKED)
    design, template = _ASKED.get(slug, ("number", "general-judgement"))
    return Measure(slug, lower, design, template)


def check_severities(rows: pd.DataFrame) -> None:
    """Refuse marks whose weight is not known, where marks are scored.

    Raises
    ------
    GenieError
        ``not-on-the-scale``.
    """
    given = rows["spans"][rows["spans"].notna()]
    named = {str(span.get("severity", "")) for listed in given for span in listed}
    if unknown := sorted(named - set(WEIGHTS)):
        raise GenieError(
            f"Errors are marked as {unknown[0][:40]!r} here, and what such an error takes "
            "off is not known. Choose another name for the task.",
            code="not-on-the-scale",
        )


def _marked(spans: pd.Series) -> bool:
    """Tell whether errors were marked, in words whose weights are known."""
    given = spans[spans.notna()]
    known = all(span.get("severity") in WEIGHTS for listed in given for span in listed)
    return len(given) > 0 and known


def preferred() -> Measure:
    """Give the measure of one side of a preference."""
    return Measure(PREFERRED)
