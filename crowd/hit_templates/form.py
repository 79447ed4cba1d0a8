"""How a HIT asks: what is shown when, checkboxes beside the ratings, ties."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from genie.lib.errors import GenieError

# The data that an item needs for a template to render it.
TYPES = ("text", "texts", "language", "outputs", "number")
SLOT = re.compile(r"[A-Z][A-Z0-9]{0,7}", re.ASCII)


@dataclass(frozen=True)
class Field:
    name: str
    type: str
    required: bool

    def problem(self, value: Any) -> str:
        if value is None:
            return "is missing" if self.required else ""
        if self.type == "texts":
            return _texts_problem(value, self.required)
        if self.type == "outputs":
            return _outputs_problem(value)
        if self.type == "number":
            return _number_problem(value)
        return "" if isinstance(value, str) else "is not a string"


def read_fields(config: Mapping[str, Mapping[str, Any]]) -> tuple[Field, ...]:
    fields = tuple(
        Field(name, str(of["type"]), bool(of.get("required", True)))
        for name, of in config.items()
    )
    for one in fields:
        if one.type not in TYPES:
            raise ValueError(
                f"{one.name} has the unknown type {one.type!r}; choose from "
                f"{', '.join(TYPES)}"
            )
    return fields


def _texts_problem(value: Any, required: bool) -> str:
    if not isinstance(value, list):
        return "is not a list of labeled texts"
    if required and not value:
        return "is empty"
    for part in value:
        if not isinstance(part, Mapping):
            return "contains something that is not a text with a label"
        if not all(isinstance(part.get(name), str) for name in ("label", "text")):
            return "contains an entry without a label or a text"
    return ""


def _outputs_problem(value: Any) -> str:
    if not isinstance(value, list) or len(value) < 2:
        return "is not a list of at least two outputs"
    slots = []
    for part in value:
        if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
            return "contains something that is not an output with a text"
        slot = part.get("slot")
        if not isinstance(slot, str) or not SLOT.fullmatch(slot):
            return "contains an output without a slot such as A"
        slots.append(slot)
    return "" if len(set(slots)) == len(slots) else "has two outputs in the same slot"


def _number_problem(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "is not a number"
    return "" if math.isfinite(value) and value > 0 else "is not a positive number"


# Errors that workers mark: severities, categories, weights, omissions.

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

    def add_weight(self, span: Mapping[str, Any]) -> dict[str, Any]:
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
            f"The error categories are not valid: {problem}.", code="unusable-errors"
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
    names = config.get("severities", USUAL)
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
    yield from _of_categories(config.get("categories", {}))
    yield from _of_weights(config)


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


# How a text is displayed; see `formats`.
PLAIN, MARKDOWN, CODE, CONVERSATION = "text", "markdown", "code", "conversation"
CHECKBOXES = {
    "added": "It adds information that is not in the input",
    "missed": "It leaves out information that is in the input",
}
# The same in other languages.
CHECKBOXES_IN = {
    "de": {
        "added": "Der Text enthält Informationen, die nicht in der Vorlage stehen",
        "missed": "Im Text fehlen Informationen, die in der Vorlage stehen",
    },
    "fr": {
        "added": "Le texte ajoute des informations absentes du texte de départ",
        "missed": "Le texte omet des informations présentes dans le texte de départ",
    },
    "es": {
        "added": "El texto añade información que no está en el texto de partida",
        "missed": "El texto omite información que está en el texto de partida",
    },
    "zh-hans": {
        "added": "文本添加了原始内容中没有的信息",
        "missed": "文本遗漏了原始内容中的信息",
    },
    "ar": {
        "added": "يضيف النص معلومات غير موجودة في المعطيات",
        "missed": "يُغفل النص معلومات موجودة في المعطيات",
    },
    "hi": {
        "added": "पाठ में ऐसी जानकारी जोड़ी गई है जो दी गई सामग्री में नहीं है",
        "missed": "पाठ में दी गई सामग्री की कुछ जानकारी छूट गई है",
    },
}
# Booleans, false by default.
SWITCHES = ("allow_tie", "canary")
# In addition to the item's fields: its document and its part of it.
DOCUMENT, PART = "of_document", "part"
# Markdown to read before the work: the instructions and the consent text.
READ_BEFORE = ("instructions", "consent")
READ_CHARACTERS = 20_000
# Who asks and what becomes of the data: see study.md.
STUDY = "study"
# How long an answer can be undone; 0: it cannot.
UNDO_SECONDS, MOST_UNDO_SECONDS = 10, 60
# The maximal number of HITs on one page of this site.
MOST_ON_A_PAGE = 10
# The language of the questions, and their translations: see
# `crowd.hits.selectors`.
LANGUAGES = ("language", "languages")
KNOWN = {
    *(*READ_BEFORE, *LANGUAGES, *SWITCHES),
    *("setup", "show_input", "before_text", "checkboxes", "undo_seconds"),
    *("items_per_page", "page_by", "errors", "expected_seconds", STUDY),
}


@dataclass(frozen=True)
class Form:
    # whether the page shows the input at any time
    shows_input: bool
    # the criteria asked before the input; all others come with it
    before_input: frozenset[str]
    checkboxes: tuple[str, ...]
    allow_tie: bool
    # whether the page has a field that only programs find
    canary: bool = False
    undo_seconds: int = UNDO_SECONDS
    # the number of HITs on one page, and whether they are parts of one document
    items_per_page: int = 1
    by_document: bool = False


def read_form(config: Mapping[str, Any], criteria: Collection[str]) -> Form:
    """Read a HIT type's form; by default all at once, with the input, no ties.

    Raises
    ------
    GenieError
        ``unusable-form`` if no page can show it, ``unusable-errors`` if its table of
        errors is unusable.
    """
    read_errors(config.get("errors", {}))
    for wrong, sentence in _form_problems(config, criteria):
        if wrong:
            raise GenieError(
                f"The [form] settings of a HIT type are not usable: {sentence}.",
                code="unusable-form",
            )
    show_input = config.get("show_input", {})
    with_input = {name for name in criteria if show_input.get(name, True)}
    at_once = with_input - set(config.get("before_text", ()))
    return Form(
        shows_input=bool(with_input),
        # If no input follows, no question comes before it.
        before_input=frozenset(set(criteria) - at_once if with_input else ()),
        checkboxes=tuple(config.get("checkboxes", ())),
        allow_tie=config.get("allow_tie", False),
        canary=config.get("canary", False),
        undo_seconds=config.get("undo_seconds", UNDO_SECONDS),
        items_per_page=config.get("items_per_page", 1),
        by_document=bool(config.get("page_by")),
    )


def _form_problems(
    config: Mapping[str, Any], criteria: Collection[str]
) -> list[tuple[bool, str]]:
    show_input = config.get("show_input", {})
    before_text = config.get("before_text", [])
    checkboxes = config.get("checkboxes", [])
    return [
        (bool(set(config) - KNOWN), f"the known keys are {', '.join(sorted(KNOWN))}"),
        (config.get("setup", 1) not in (1, 2), "setup must be 1 or 2"),
        (
            config.get("undo_seconds", 0) not in range(MOST_UNDO_SECONDS + 1),
            f"undo_seconds must be a whole number from 0 to {MOST_UNDO_SECONDS}",
        ),
        (
            config.get("items_per_page", 1) not in range(1, MOST_ON_A_PAGE + 1),
            f"items_per_page must be a whole number from 1 to {MOST_ON_A_PAGE}",
        ),
        (not isinstance(config.get("page_by", ""), str), "page_by must be a text"),
        (not isinstance(config.get(STUDY, {}), Mapping), "study must be a table"),
        (
            not isinstance(show_input, Mapping)
            or not all(isinstance(value, bool) for value in show_input.values()),
            "show_input must give true or false for each criterion",
        ),
        (
            not _within(show_input, criteria) or not _within(before_text, criteria),
            "a criterion is named that is not asked",
        ),
        (
            not _within(checkboxes, CHECKBOXES),
            f"the possible checkboxes are {', '.join(CHECKBOXES)}",
        ),
        (
            bool(set(checkboxes) & set(criteria)),
            "a checkbox has the same name as a criterion",
        ),
        *(
            (
                not isinstance(config.get(name, ""), str)
                or len(config.get(name, "")) > READ_CHARACTERS,
                f"{name} must be a text of at most {READ_CHARACTERS:,} characters",
            )
            for name in READ_BEFORE
        ),
        *(
            (
                not isinstance(config.get(name, False), bool),
                f"{name} must be true or false",
            )
            for name in SWITCHES
        ),
    ]


def _within(names: Any, known: Collection[str]) -> bool:
    return isinstance(names, (list, tuple, Mapping)) and all(
        isinstance(name, str) and name in known for name in names
    )
