"""How a HIT asks: what is shown when, checkboxes beside the ratings, ties."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from crowd.hit_templates.errors import read_errors
from genie.lib.errors import GenieError

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
    *("items_per_page", "page_by", "errors"),
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
    for wrong, sentence in _problems(config, criteria):
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


def _problems(
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
