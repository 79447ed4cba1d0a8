"""The base of scales: a question's answers, and the number of each."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from genie.lib.errors import GenieError
from genie.lib.extension import discover

# ASCII digits only: float() also takes "1_0", "nan" and digits of other scripts.
_NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,20})?", re.ASCII)


@dataclass(frozen=True)
class Option:
    """One answer that a worker can choose.

    Parameters
    ----------
    value : float
        The rating.
    key : str
        The key on the keyboard that chooses it.
    sent : str
        The form value that a page sends; the value in digits if empty.

    Examples
    --------
    >>> Option(0.75, "Agree", "4").raw
    '0.75'
    """

    value: float
    label: str
    key: str
    sent: str = ""

    @property
    def raw(self) -> str:
        """The form value that a page sends."""
        return self.sent or f"{self.value:g}"


class Scale(ABC):
    """The answers to a question.

    Parameters
    ----------
    slug : str
        Name in configuration files and signatures.
    options : tuple of Option
        Answers to choose from, in an order that never changes; empty if the worker
        enters a number. Pages show them in the order of their keys.
    labels : mapping
        Language to the options' labels, in their order. A translated scale is a
        different measurement, so these words are not in the site's catalog, where a
        change to a button could change them.
    minimum, maximum, step : float
        Range of the number that the worker types, if there are no options.
    binary_threshold : float
        A rating above it means "good".
    compares : bool
        One answer is about two outputs, A and B.
    relative : bool
        The number is in proportion to the value of the item's reference output.
    slider : bool
        The number can be set with a slider.
    ticks : tuple of str
        The meanings of points at equal distances on the line, from the minimum to the
        maximum; empty for points without words. `labels` has them in other languages.
    ends : tuple of str
        The meanings of the minimum and the maximum, if points have none. `labels` has
        them in other languages.
    counted : bool
        The number is computed from marked errors, not asked for.
    times : float
        The factor of scores that keep the numbers' own unit: 100 for hundredths.
    """

    slug: str
    options: ClassVar[tuple[Option, ...]] = ()
    labels: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    minimum: ClassVar[float] = 0.0
    maximum: ClassVar[float] = 1.0
    step: ClassVar[float] = 1.0
    binary_threshold: ClassVar[float] = 0.5
    compares: ClassVar[bool] = False
    relative: ClassVar[bool] = False
    slider: ClassVar[bool] = False
    ticks: ClassVar[tuple[str, ...]] = ()
    ends: ClassVar[tuple[str, ...]] = ()
    counted: ClassVar[bool] = False
    times: ClassVar[float] = 1.0

    @classmethod
    def by_key(cls) -> list[Option]:
        """Return the options as pages show them: from left to right as their keys lie.

        Keys match expectations: 5 of five is the best.

        Examples
        --------
        >>> from crowd.scales.base import all_scales
        >>> [option.label for option in all_scales()["likert-5"].by_key()][-1]
        'Strongly agree'
        """
        return sorted(cls.options, key=lambda option: option.key)

    @classmethod
    def parse(cls, raw: str) -> float:
        """Convert a form value into a rating, or refuse it.

        Parameters
        ----------
        raw : str
            Untrusted: an option's value or a number, in plain decimal digits.

        Raises
        ------
        GenieError
            ``not-on-the-scale``

        Examples
        --------
        >>> from crowd.scales.base import all_scales
        >>> all_scales()["likert-5"].parse("0.75")
        0.75
        """
        text = raw.strip()
        for option in cls.options:
            if option.sent and option.sent == text:
                return option.value
        # Options that have names (A, B, tie) are never sent as numbers.
        lettered = any(option.sent for option in cls.options)
        if lettered or not _NUMBER.fullmatch(text):
            raise cls._refusal(raw)
        number = float(text)
        if cls.options:
            if number not in {option.value for option in cls.options}:
                raise cls._refusal(raw)
        elif not cls.minimum <= number <= cls.maximum:
            raise cls._refusal(raw)
        return cls.rating(number)

    @classmethod
    def rating(cls, number: float) -> float:
        """Convert an accepted number into the rating; by default the same number.

        Examples
        --------
        >>> from crowd.scales.base import all_scales
        >>> all_scales()["magnitude"].rating(150)
        1.5
        """
        return number + 0.0  # turns -0.0 into a plain zero

    @classmethod
    def is_in(cls, language: str) -> bool:
        """Check whether the scale has labels in a language.

        Examples
        --------
        >>> from crowd.scales.base import all_scales
        >>> all_scales()["slider-100"].is_in("fi"), all_scales()["binary"].is_in("fi")
        (True, False)
        """
        return not (cls.options or cls.ticks) or language in cls.labels

    @classmethod
    def in_language(cls, language: str) -> type[Scale]:
        """Return the same scale with the labels of a language, if it has them.

        Examples
        --------
        >>> from crowd.scales.base import all_scales
        >>> [option.label for option in all_scales()["binary"].in_language("de").options]
        ['Stimme zu', 'Stimme nicht zu']
        >>> all_scales()["binary"].in_language("de").options[0].value
        1.0
        """
        return _in_language(cls, language) if language in cls.labels else cls

    @classmethod
    def _refusal(cls, raw: str) -> GenieError:
        shown = raw if len(raw) <= 40 else f"{raw[:40]}…"
        return GenieError(
            f"{shown!r} is not a valid answer on the scale {cls.slug}.",
            code="not-on-the-scale",
            details={"scale": cls.slug},
        )


@cache
def _in_language(scale: type[Scale], language: str) -> type[Scale]:
    for words in ("ticks", "ends"):
        if getattr(scale, words):
            return type(scale.__name__, (scale,), {words: scale.labels[language]})
    options = tuple(
        replace(option, label=label)
        for option, label in zip(scale.options, scale.labels[language], strict=True)
    )
    return type(scale.__name__, (scale,), {"options": options})


# Scales of imported ratings: found by their names, not offered for new tasks.
#
# `number_1_7` is any number from 1 to 7, with scores in percent of the range, as on this
# site's scales. `sum_-25_0` keeps its own unit, because a sum of penalties has no
# meaningful minimum. `z_-4_4` holds standard deviations, with scores in hundredths.
# `preferred` says whether one output of a pair was the better one.
_NAMED = re.compile(r"(number|sum|z)_(-?[0-9]{1,9})_(-?[0-9]{1,9})", re.ASCII)
PREFERRED = "preferred"


class _Preferred(Scale):
    options = (
        Option(1.0, "preferred", "1"),
        Option(0.5, "neither", "2"),
        Option(0.0, "not preferred", "3"),
    )


@cache
def scale_elsewhere(slug: str) -> type[Scale] | None:
    """Return the imported scale of this name; None if there is none.

    Examples
    --------
    >>> scale_elsewhere("number_1_7").maximum
    7.0
    >>> scale_elsewhere("sum_-25_0").counted, scale_elsewhere("number_7_1") is None
    (True, True)
    """
    if slug == PREFERRED:
        return type("Preferred", (_Preferred,), {"slug": slug})
    found = _NAMED.fullmatch(slug)
    if found is None:
        return None
    family, low, high = found[1], float(found[2]), float(found[3])
    if low >= high:
        return None
    ends = {"minimum": low, "maximum": high, "binary_threshold": (low + high) / 2}
    own_unit = {"counted": family != "number", "times": 100.0 if family == "z" else 1.0}
    return type("Elsewhere", (Scale,), {"slug": slug, **ends, **own_unit})


# All scales by their slugs: offered ones and those of imported ratings.
class _Scales(dict[str, type[Scale]]):
    """Scales by their slugs; those of imported ratings are found, not listed."""

    def __missing__(self, slug: str) -> type[Scale]:
        if (scale := scale_elsewhere(slug)) is None:
            raise KeyError(slug)
        return scale

    def __contains__(self, slug: object) -> bool:
        return super().__contains__(slug) or scale_elsewhere(str(slug)) is not None

    def get(self, slug: str, default: Any = None) -> Any:
        try:
            return self[slug]
        except KeyError:
            return default


def all_scales() -> dict[str, type[Scale]]:
    """Return all scales by their slugs.

    Examples
    --------
    >>> sorted(all_scales())[:2]
    ['binary', 'likert-5']
    >>> all_scales()["number_1_7"].minimum
    1.0
    """
    return _Scales(discover("crowd.scales", Scale))
