"""Errors that workers mark: severities, categories, weights, omissions."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from genie.lib.errors import GenieError

# The penalty of a marked error, by its severity, unless the task says otherwise.
WEIGHTS = {"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 25.0}
USUAL = ("minor", "major")
# Severities have the keys from 1 on.
MOST_SEVERITIES = 9
MOST_CATEGORIES = 200
MOST_WEIGHT = 100
# Between a category and the kinds below it.
BELOW = "/"
_KEYS = {"missing", "severities", "categories", "weights"}
_SEVERITY = re.compile(r"[a-z][a-z-]{0,29}", re.ASCII)


@dataclass(frozen=True)
class Errors:
    """The errors that can be marked in an output.

    Parameters
    ----------
    severities : tuple of str
        In the order of their keys on the keyboard.
    categories : mapping
        Category to the kinds below it; empty: errors have only a severity.
    weights : mapping
        Weights that differ from `WEIGHTS`: of a severity (``"minor"``), of a category
        or a kind (``"Fluency/Punctuation"``), or of both (``"minor
        Fluency/Punctuation"``).
    missing : bool
        Whether omissions can be marked, which have no place in the output.
    """

    severities: tuple[str, ...] = USUAL
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    missing: bool = False

    def by_category(self) -> list[tuple[str, list[str]]]:
        return [
            (category, [f"{category}{BELOW}{kind}" for kind in below] or [category])
            for category, below in self.categories.items()
        ]

    @property
    def kinds(self) -> list[str]:
        return [kind for _category, kinds in self.by_category() for kind in kinds]

    @property
    def words(self) -> list[str]:
        said = [
            *self.categories,
            *(k for below in self.categories.values() for k in below),
        ]
        return list(dict.fromkeys(said))

    def weighed(self, span: Mapping[str, Any]) -> dict[str, Any]:
        severity = str(span["severity"])
        weight = self.weight(severity, str(span.get("category", "")))
        known = weight == WEIGHTS.get(severity)
        return {**span} if known else {**span, "weight": weight}

    def weight(self, severity: str, kind: str = "") -> float:
        """Return the penalty of an error; the most specific weight applies.

        Examples
        --------
        >>> errors = Errors(weights={"minor Fluency/Punctuation": 0.1, "Style": 2})
        >>> errors.weight("minor", "Fluency/Punctuation")
        0.1
        >>> errors.weight("minor", "Fluency/Grammar"), errors.weight("minor", "Style/Odd")
        (1.0, 2.0)
        """
        category = kind.partition(BELOW)[0]
        names = (
            f"{severity} {kind}",
            kind,
            f"{severity} {category}",
            category,
            severity,
        )
        said = (self.weights[name] for name in names if name in self.weights)
        return float(next(said, WEIGHTS.get(severity, 0.0)))


def read_errors(config: Mapping[str, Any]) -> Errors:
    """Read the errors table of a template or a task.

    Raises
    ------
    GenieError
        ``unusable-errors`` if no page can show it.
    """
    for problem in _problems(config):
        raise GenieError(
            f"The errors to mark are not usable: {problem}.", code="unusable-errors"
        )
    categories = config.get("categories", {})
    return Errors(
        tuple(config.get("severities", USUAL)),
        {name: tuple(below) for name, below in categories.items()},
        {name: float(weight) for name, weight in config.get("weights", {}).items()},
        config.get("missing", False),
    )


def span_score(spans: Iterable[Mapping[str, Any]]) -> float:
    """Score an output by the errors marked in it: 0 without any, lower with each.

    Minus the sum of the weights. Each span has its ``severity``, and its ``weight`` if
    that is not the one in `WEIGHTS`.

    References
    ----------
    Freitag et al. (2021), Experts, Errors, and Context: A Large-Scale Study of Human
    Evaluation for Machine Translation, TACL: the weights of MQM's severities. Kocmi et
    al. (2024), Error Span Annotation, WMT, scores marked spans with the same weights.
    """
    return 0.0 - math.fsum(
        float(span.get("weight", WEIGHTS.get(str(span["severity"]), 0.0)))
        for span in spans
    )


def _problems(config: Any) -> Iterator[str]:
    if not isinstance(config, Mapping) or set(config) - _KEYS:
        yield f"the known keys are {', '.join(sorted(_KEYS))}"
        return
    if not isinstance(config.get("missing", False), bool):
        yield "missing must be true or false"
    yield from _of_severities(config.get("severities", USUAL))
    yield from _of_categories(config.get("categories", {}))
    yield from _of_weights(config)


def _of_severities(names: Any) -> Iterator[str]:
    if (
        not _are_texts(names)
        or not 1 <= len(names) <= MOST_SEVERITIES
        or not all(_SEVERITY.fullmatch(name) for name in names)
        or len(set(names)) < len(names)
    ):
        yield (
            f"severities must be one to {MOST_SEVERITIES} different names in small "
            "letters, such as minor"
        )


def _of_categories(categories: Any) -> Iterator[str]:
    if not isinstance(categories, Mapping) or not all(map(_are_texts, categories.values())):  # fmt: skip
        yield "categories must give a list of kinds, which may be empty, for each"
        return
    names = [*categories, *(kind for below in categories.values() for kind in below)]
    if len(names) > MOST_CATEGORIES:
        yield f"there can be at most {MOST_CATEGORIES} categories and kinds"
    if any(not name.strip() or BELOW in name or len(name) > 100 for name in names):
        yield f"a category has a name of up to 100 characters without {BELOW!r}"


def _of_weights(config: Mapping[str, Any]) -> Iterator[str]:
    weights, severities = config.get("weights", {}), config.get("severities", USUAL)
    categories = config.get("categories", {})
    if not isinstance(weights, Mapping) or not all(map(_is_weight, weights.values())):
        yield f"weights must be numbers from 0 to {MOST_WEIGHT}"
        return
    if not isinstance(categories, Mapping) or not _are_texts(severities):
        return
    kinds = [f"{name}{BELOW}{kind}" for name in categories for kind in categories[name]]
    named = [*categories, *kinds]
    known = {
        *severities,
        *named,
        *(f"{s} {name}" for s in severities for name in named),
    }
    for name in sorted({*weights} - known):
        yield f"weights names {name!r}, which is neither a severity nor a category"
    for name in severities:
        if name not in WEIGHTS and name not in weights:
            yield f"the severity {name} has no weight"


def _are_texts(names: Any) -> bool:
    return (
        isinstance(names, Sequence)
        and not isinstance(names, str)
        and all(isinstance(name, str) for name in names)
    )


def _is_weight(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= MOST_WEIGHT
