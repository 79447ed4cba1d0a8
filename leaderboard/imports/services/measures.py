"""The scale of a criterion: as stated, as stored, or as its values suggest."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crowd.hit_templates.form import WEIGHTS
from crowd.scales.base import Scale, all_scales
from genie.lib.errors import GenieError
from leaderboard.designs.base import Design
from leaderboard.designs.one_output import (
    Binary,
    DirectAssessment,
    ErrorSpans,
    Likert6,
    Number,
    PlainMagnitude,
    Slider,
)
from leaderboard.files import File
from leaderboard.imports.readers.judgments import Judgments, Problem, mark_repeated
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.names import fold_name, stated_scale
from leaderboard.imports.readers.preview import UsedScale
from leaderboard.imports.selectors import MAGNITUDE, Floats, as_found, as_kept

if TYPE_CHECKING:
    import pandas as pd

SLIDER = "slider-100"
# Ends that people are shown, the narrowest first.
_USUAL = ((0, 1), (1, 5), (1, 6), (1, 7), (0, 5), (0, 6), (1, 10), (0, 10))
# Fewer different values may all be within a part of the scale that people saw.
ENOUGH = 5
# If at most this share of values is not on a scale of all others, a person is asked; a
# fifth of it for more than `ENOUGH` different values, which may be a scale's tail.
_FEW = 0.05
# A single value that is this many times as large as the scale is wide is a code, such
# as 99999 for no answer, however often it occurs.
_CODE = 10
# Number of values that a question lists.
_LISTED = 5
#: Confirms the guess of a scale.
GUESSED = "guessed"
_ENDS = re.compile(r"(-?[0-9]{1,9}) *(?:to|-|–|\.\.) *(-?[0-9]{1,9})", re.ASCII)
#: Families of scales with their unit: the ends only bound values.
OWN_UNIT = ("z", "sum")
# From an earlier import: the scale of a criterion, and the import's number.
Before = tuple[str, int]
# The design by its scale; for any other scale, it is a number.
_DESIGNS: Mapping[str, type[Design]] = {
    design.scales[0]: design
    for design in (Slider, PlainMagnitude, DirectAssessment, Likert6, Binary)
}


@dataclass(frozen=True)
class Measure:
    """How values are stored: with `lower_is_better`, their signs are changed."""

    scale: str
    lower_is_better: bool = False
    design: type[Design] = Number

    def to_stored(self, values: Floats) -> Floats:
        return as_kept(values, self.scale, lower_is_better=self.lower_is_better)

    def to_file(self, ratings: Floats) -> Floats:
        return as_found(ratings, self.scale, lower_is_better=self.lower_is_better)


def find_scales(
    rows: pd.DataFrame,
    judgments: Judgments,
    *,
    said: Mapping[str, str],
    before: Mapping[str, Before],
) -> dict[str, UsedScale]:
    """Return the scale of each criterion of ratings (`rows` without preferences).

    It is that of an earlier import of the task, else the one stated by a person or the
    files. Only a scale that is not stated is guessed from the values, and a guess from
    fewer than `ENOUGH` different values must be confirmed. The ends of earlier z-scores
    and penalties, to which no score is proportional, move out to include all values.

    Raises ``unknown-scale``.
    """
    found = {}
    names = list(map(str, rows["criterion"].unique()))
    if unknown := sorted(set(said) - {"*", *names, *before}):
        raise GenieError(
            f"There is no criterion {unknown[0]!r} to give a scale: the criteria are "
            f"{', '.join(filter(None, names)) or '* (all ratings)'}.",
            code="unknown-scale",
        )
    for criterion, values in _by_criterion(rows, judgments.lower_is_better):
        lower, sure = criterion in judgments.lower_is_better, True
        given = said.get(criterion) or said.get("*", "")
        stated = "" if judgments.standardised else judgments.scales.get(criterion, "")
        stated = stated or stated_scale(criterion)
        if criterion in before:
            slug, number = before[criterion]
            slug, source = _name_own_unit(slug, values), f"as in import {number}"
        elif (given or stated) and given != GUESSED:
            slug = scale_named(given or stated, lower=lower)
            source = "as entered" if given else "as stated in the files"
        else:
            slug = _guess(values, standardised=judgments.standardised, lower=lower)
            source = "guessed from the values"
            sure = _family(slug) in OWN_UNIT or len(np.unique(values)) >= ENOUGH
            odd = _strays(values)[1].any() or _are_means(values)
            sure &= judgments.standardised or lower or not odd
            sure |= given == GUESSED
        if slug not in all_scales():
            raise GenieError(
                f"There is no scale {slug!r}. Give the lowest and the highest possible "
                f"answer, as in --scale '{criterion or '*'}=1 to 5'.",
                code="unknown-scale",
            )
        found[criterion] = UsedScale(slug, in_words(slug), source, confirmed=sure)
    return found


def _strays(values: Floats) -> tuple[tuple[int, int], npt.NDArray[np.bool_]]:
    """Return the narrowest usual scale of all but a few values, and which are not on it.

    Examples
    --------
    >>> scale, stray = _strays(np.array([*range(1, 6)] * 8 + [55]))
    >>> scale, int(stray.sum())
    ((1, 5), 1)
    """
    gapless = bool((np.diff(np.unique(values)) <= 1).all())
    for low, high in (*_USUAL, (0, 100)):
        stray = (values < low) | (values > high)
        if high not in (1, 100):
            stray |= values % 0.25 != 0
        if gapless and (values[stray] > high).all():
            continue  # a scale's highest answers can be rare
        strays = np.unique(values[stray])
        few = _FEW if len(strays) <= ENOUGH else _FEW / 5
        if len(strays) == 1 and abs(strays[0]) > _CODE * (high - low):
            few = 0.5
        if stray.mean() <= few and len(np.unique(values[~stray])) > 2:
            return (low, high), stray
    return (0, 0), np.zeros(len(values), bool)


def _are_means(values: Floats) -> bool:
    """Check for numbers up to 10 as of averages, which seldom are the scale's ends."""
    return bool(values.min() >= 0 and 1 < values.max() <= 10 and (values % 0.25).any())


def unconfirmed_scales(
    rows: pd.DataFrame, scales: Mapping[str, UsedScale], files: Sequence[File]
) -> list[str]:
    """Return questions about scales with too few different values or a few strays."""
    found: dict[str, list[str]] = {}
    for criterion, own in rows.groupby("criterion", sort=False):
        if scales[str(criterion)].confirmed:
            continue
        (low, high), stray = _strays(own["value"].to_numpy())
        why = (
            "these may be means, which seldom are the ends of a scale"
            if _are_means(own["value"].to_numpy())
            else f"there are fewer than {ENOUGH} different values, so one end may be missing"
        )
        if n := int(stray.sum()):
            named = ", ".join(
                f"{value:g} ({file_name(files, int(file))}, row {int(row):,})"
                for value, file, row in own[stray][["value", "file", "row"]]
                .head(_LISTED)
                .to_numpy()
                .tolist()
            )
            why = (
                f"all values are on {low} to {high}, except {named} ({n:,} in all). "
                "Correct these if they are wrong"
            )
        found.setdefault(why, []).append(str(criterion) or "*")
    shown = {str(name) or "*": scale.shown for name, scale in scales.items()}
    return [
        f"Confirm the scale of {', '.join(names).replace('*', 'the ratings')}: {why}. "
        f"--scale {GUESSED} confirms {', '.join(map(shown.__getitem__, names))}. Otherwise "
        "give the lowest and the highest possible answer with "
        + " ".join(f"--scale '{name}=LOWEST to HIGHEST'" for name in names)
        + ", or in the field Scale."
        for why, names in found.items()
    ]


def measures(
    rows: pd.DataFrame,
    judgments: Judgments,
    *,
    said: Mapping[str, str],
    before: Mapping[str, Before],
    files: Sequence[File] = (),
) -> dict[str, Measure]:
    """Check that values are on their scales, and return the measure of each criterion.

    Raises ``unknown-scale``; ``not-on-the-scale``, with the first rows.
    """
    found = find_scales(rows, judgments, said=said, before=before)
    outside = say_outside(rows, found, judgments, files)
    made = {}
    for name, own in rows.groupby("criterion", sort=False):
        criterion, used = str(name), found[str(name)]
        lower = criterion in judgments.lower_is_better
        given = scale_named(said.get(criterion) or said.get("*", ""), lower=lower)
        other = criterion in before and given not in ("", before[criterion][0])
        bad = [str(one) for one in outside if one.field == criterion]
        if bad or other:
            ends = f"{own['value'].min():g} to {own['value'].max():g}"
            rest = f"; {len(bad) - 3:,} more" if len(bad) > 3 else ""
            what = (
                f"Correct them, or give another scale with --scale "
                f"'{criterion or '*'}=LOWEST to HIGHEST' or in the field Scale."
            )
            if criterion in before:
                values = own["value"].to_numpy()
                guess = _guess(values, standardised=judgments.standardised, lower=lower)
                number = before[criterion][1]
                what = (
                    "Scores are percent of the way between the ends, so the earlier ones "
                    f"would change. Take import {number} back (genie import-judgments "
                    f"--take-back {number}) and import its files again with --scale "
                    f"'{criterion or '*'}={in_words(given or guess)}', then these."
                )
            raise GenieError(
                f"The values of {criterion or 'the ratings'!r} go from {ends}, and their "
                f"scale is {used.shown} ({used.source}"
                f"{f'; you entered {given}' if other else ''}). {' '.join(bad[:3])}{rest} "
                f"{what}",
                code="not-on-the-scale",
            )
        made[criterion] = measure(
            used.slug, lower=lower, marked=_has_marks(own["spans"])
        )
    return made


def say_outside(
    rows: pd.DataFrame,
    scales: Mapping[str, UsedScale],
    judgments: Judgments,
    files: Sequence[File],
) -> list[Problem]:
    """Return problems of values outside their scales, and add them to `judgments`."""
    problems = []
    for criterion, values in _by_criterion(rows, judgments.lower_is_better):
        used = scales[criterion]
        least, most = _ends(all_scales()[used.slug])
        own = rows.loc[rows["criterion"] == criterion, ["file", "row", "value"]]
        problems += [
            Problem(
                file_name(files, int(file)),
                int(row),
                criterion,
                f"{value:g} is outside the scale {used.shown} ({used.source}).",
            )
            for file, row, value in own[(values < least) | (values > most)].to_numpy()
        ]
    judgments.problems += [one for one in problems if one not in judgments.problems]
    return problems


def file_name(files: Sequence[File], number: int) -> str:
    return files[number].name if number < len(files) else f"file {number + 1}"


def _by_criterion(
    rows: pd.DataFrame, lower_is_better: Sequence[str]
) -> list[tuple[str, Floats]]:
    return [
        (str(name), 0.0 - own.to_numpy() if name in lower_is_better else own.to_numpy())
        for name, own in rows.groupby("criterion", sort=False)["value"]
    ]


def _name_own_unit(slug: str, values: Floats) -> str:
    least, most = _ends(all_scales()[slug])
    low, high = min(least, values.min()), max(most, values.max())
    moved = _scale_slug(_family(slug), math.floor(low), math.ceil(high))
    return moved if _family(slug) in OWN_UNIT else slug


def scale_named(text: str, *, lower: bool = False) -> str:
    """Return the scale that a person or a file states, such as "1 to 5" or its name.

    Examples
    --------
    >>> scale_named("1 to 7"), scale_named("0-100"), scale_named("likert-5")
    ('number_1_7', 'slider-100', 'likert-5')
    >>> scale_named("1 to 5", lower=True)
    'number_-5_-1'
    """
    found = _ENDS.fullmatch(text.strip())
    if found is None:
        return text.strip()
    low, high = sorted(0 - int(end) if lower else int(end) for end in found.groups())
    return SLIDER if (low, high) == (0, 100) else _scale_slug("number", low, high)


def in_words(slug: str) -> str:
    """Return a scale for people, in a form that `scale_named` reads.

    Examples
    --------
    >>> in_words("number_1_7"), in_words("slider-100"), in_words("magnitude")
    ('1 to 7', '0 to 100', 'magnitude')
    """
    scale = all_scales().get(slug)
    numbered = scale is not None and (slug == SLIDER or _family(slug) == "number")
    return "{:g} to {:g}".format(*_ends(scale)) if scale and numbered else slug


def _family(slug: str) -> str:
    return slug.partition("_")[0]


def _ends(scale: type[Scale]) -> tuple[float, float]:
    ends = [option.value for option in scale.options] or [scale.minimum, scale.maximum]
    return min(ends), max(ends)


def _guess(values: Floats, *, standardised: bool, lower: bool) -> str:
    low, high = float(values.min()), float(values.max())
    ends = math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    steps = (values % 0.25 == 0).all() or _are_means(values)
    fitting = (one for one in _USUAL if steps and one[0] <= low and high <= one[1])
    usual = next(fitting, None)
    widest = max(-ends[0], ends[1])
    return (
        _scale_slug("z", *ends)
        if standardised
        # an upper end that raters do not keep to: how many times as good
        else MAGNITUDE
        if low >= 0.01 and 100 < high <= 1_000_000
        else _scale_slug("sum", *ends)
        if lower or low < -10 or high > 100 or (low < 0 and high <= 0)
        else _scale_slug("number", *usual)
        if usual
        else SLIDER
        if low >= 0 and 1 < high <= 100
        else _scale_slug("number", -widest * (low < 0), widest)
    )


def _scale_slug(family: str, low: float, high: float) -> str:
    return f"{family}_{low:.0f}_{high:.0f}"


def measure(slug: str, *, lower: bool = False, marked: bool = False) -> Measure:
    """Return how ratings on a scale are stored and shown; `marked`: with marks."""
    design = ErrorSpans if slug == SLIDER and marked else _DESIGNS.get(slug, Number)
    return Measure(slug, lower, design)


def check_severities(rows: pd.DataFrame) -> None:
    """Refuse marks with an unknown weight, if marks are scored.

    Raises ``not-on-the-scale``.
    """
    given = rows["spans"][rows["spans"].notna()]
    named = {str(span.get("severity", "")) for listed in given for span in listed}
    if unknown := sorted(named - set(WEIGHTS)):
        raise GenieError(
            f"Errors are marked as {unknown[0][:40]!r} here, and what such an error takes "
            "off is not known. Choose another name for the task.",
            code="not-on-the-scale",
        )


def _has_marks(spans: pd.Series) -> bool:
    given = spans[spans.notna()]
    known = all(span.get("severity") in WEIGHTS for listed in given for span in listed)
    return len(given) > 0 and known


# Names that differ only in case, spaces or quotation marks are joined on request.

# Columns of `Judgments.rows` with these names.
_COLUMNS = {
    "systems": ("system", "other"),
    "raters": ("worker",),
    "criteria": ("criterion",),
}
_MOST = 5


def join_alike(
    judgments: Judgments, choices: Mapping[str, str], known: Mapping[str, Iterable[str]]
) -> tuple[Choice, ...]:
    """Join names of systems, raters and criteria in place if `choices` ask for it.

    ``same_systems``, ``same_raters`` and ``same_criteria``: "yes" joins. Joined names
    become those that the task has already (`known`, by kind). Returns a question for
    each kind with such names, even if it is answered.
    """
    asked = []
    rows, joined = judgments.rows, False
    for kind, columns in _COLUMNS.items():
        before = list(known.get(kind, ()))
        counts: dict[str, int] = dict.fromkeys(before, len(rows) + 1)
        for column in columns:
            for name, n in rows[column].value_counts(sort=False).items():
                counts[str(name)] = counts.get(str(name), 0) + int(n)
        groups = [group for group in _groups(counts) if not set(group) <= set(before)]
        if not groups:
            continue
        asked.append(_question(kind, groups))
        if choices.get(f"same_{kind}") == "yes":
            kept = {
                name: max(group, key=counts.__getitem__)
                for group in groups
                for name in group
            }
            _rename(judgments, kind, kept)
            joined = True
    if joined:
        mark_repeated(judgments, "Joined names")
    return tuple(asked)


def _groups(names: Iterable[str]) -> list[list[str]]:
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(fold_name(name), []).append(name)
    return [group for key, group in alike.items() if key and len(group) > 1]


def _question(kind: str, groups: list[list[str]]) -> Choice:
    # a draft must not store raters' names
    listed = (
        f"{len(groups):,} groups of names"
        if kind == "raters"
        else "; ".join(" and ".join(map(repr, group)) for group in groups[:_MOST])
        + (f"; {len(groups) - _MOST:,} more" if len(groups) > _MOST else "")
    )
    return Choice(
        f"same_{kind}",
        f"Some {kind} have names that differ only in case, spaces or quotation marks "
        f"({listed}). Are they the same {kind}?",
        ("yes", "no"),
        needed=True,
    )


def _rename(judgments: Judgments, kind: str, kept: Mapping[str, str]) -> None:
    for column in _COLUMNS[kind]:
        judgments.rows[column] = judgments.rows[column].map(
            lambda name: kept.get(name, name)
        )
    if kind == "systems":
        # of joined names, the first text stays
        outputs = reversed(judgments.texts.outputs.items())
        judgments.texts.outputs = {
            (kept.get(system, system), item): text for (system, item), text in outputs
        }
    if kind == "criteria":
        judgments.lower_is_better = tuple(
            kept.get(name, name) for name in judgments.lower_is_better
        )
        judgments.scales = {
            kept.get(name, name): scale for name, scale in judgments.scales.items()
        }


# Names in files, and the names that database columns can store.

# The columns' lengths: a submission's name, an instance's id, a criterion.
SYSTEM, INSTANCE, CRITERION = 100, 200, 50
NOT_SAID, OVERALL = "not said", "overall"
# The criterion of scores from marks (`leaderboard.designs.one_output`).
_TAKEN = "spans"


def fit_names(names: Iterable[str], longest: int) -> dict[str, str]:
    """Return each name as it is stored: shortened to `longest`, and never empty.

    Examples
    --------
    >>> fit_names(["a", ""], 100)
    {'a': 'a', '': 'not said'}
    >>> len(fit_names(["x" * 90], 50)["x" * 90])
    50
    """
    return _distinct(names, lambda name: _short(name, longest) or NOT_SAID)


def criteria_by_name(names: Iterable[str]) -> dict[str, str]:
    """Return criteria as they are stored: addresses and caches allow no blanks.

    Examples
    --------
    >>> criteria_by_name(["", "Overall quality", "spans"])
    {'': 'overall', 'Overall quality': 'Overall-quality', 'spans': 'marked-spans'}
    """
    return _distinct(names, _criterion)


def _criterion(name: str) -> str:
    # an @ is a slot in names of questions
    kept = "-".join(_short(name.replace("@", " at "), CRITERION).split())
    return f"marked-{kept}" if kept == _TAKEN else kept or OVERALL


def _distinct(names: Iterable[str], keep: Callable[[str], str]) -> dict[str, str]:
    kept: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        one, n = keep(name), 2
        while one in taken:
            one, n = f"{keep(name)[:40]}-{n}", n + 1
        kept[name] = one
        taken.add(one)
    return kept


def _short(name: str, longest: int) -> str:
    plain = name.replace("\0", "").strip()
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return plain if len(plain) <= longest else f"{plain[: longest - 9]}~{digest}"


def changed_names(names: dict[str, str]) -> dict[str, str]:
    """Return the names that are stored differently: as stored, and as found."""
    return {kept: name for name, kept in names.items() if kept != name}
