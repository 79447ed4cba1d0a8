"""The language of a HIT: one for the whole page, from the title to the answers.

The questions of a task are written in one language. Translations come from the task
itself (`languages` of its form) or from its HIT template. A language is offered only if
all words of the page are translated, so no page mixes two.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.utils.translation import get_language

from crowd import hit_templates
from crowd.hit_templates import HITTemplate
from crowd.hit_templates.consent import ENGLISH
from crowd.hit_templates.errors import read_errors
from crowd.hit_templates.form import CHECKBOXES_IN
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HITType, Item
from crowd.scales.find import all_scales

# Words of a page that no task can translate: see crowd/scales and form.py.
SCALE, CHECKED = "scale", "checkboxes"


class Asking(Protocol):
    @property
    def template(self) -> str: ...
    @property
    def scale(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def criteria(self) -> Mapping[str, str]: ...
    @property
    def form(self) -> Mapping[str, Any]: ...


@dataclass
class Wording:
    title: str
    description: str
    instructions: str
    criteria: dict[str, str] = field(default_factory=dict)
    # as keys of a task's table of the language
    missing: list[str] = field(default_factory=list)


def language_written(asked: Asking) -> str:
    return str(asked.form.get("language", ENGLISH))


def languages_of(asked: Asking) -> list[str]:
    """Return the languages with all words, the original first."""
    written = language_written(asked)
    others = sorted(_may_be(asked) - {written})
    return [written, *(one for one in others if not wording(asked, one).missing)]


def language_for(
    asked: Asking, wanted: str | None, items: Iterable[Mapping[str, Any]] = ()
) -> str:
    """Choose the language for a reader of `wanted`; the task's otherwise.

    `wanted` is as in Django: ``de``, ``de-at``. The labels of `items` must be
    translated, too.
    """
    written = language_written(asked)
    for language in (wanted or "", (wanted or "").partition("-")[0]):
        if language == written:
            return written
        if not language or language not in _may_be(asked):
            continue
        labels = {part["label"] for data in items for part in data.get("fields") or []}
        if not wording(asked, language, labels).missing:
            return language
    return written


def language_now(hit_type: HITType, hit_pk: int) -> str:
    wanted = get_language()
    if language_for(hit_type, wanted) == language_written(hit_type):
        return language_written(hit_type)
    items = Item.objects.filter(hit_id=hit_pk).values_list("data", flat=True)
    return language_for(hit_type, wanted, items)


def language_of_pool(hit_type: HITType, pool: str) -> str:
    item = Item.objects.filter(campaign__pool=pool, campaign__hit_type=hit_type).first()
    return language_for(hit_type, get_language(), [item.data] if item else [])


def language_of(assignment: Assignment) -> str:
    return assignment.language or language_written(assignment.hit.campaign.hit_type)


def title_now(hit_type: HITType) -> str:
    return wording(hit_type, language_for(hit_type, get_language())).title


def worded(hit_type: HITType, language: str) -> HITType:
    """Return a HIT type in a language, to be shown and never stored."""
    said = wording(hit_type, language)
    shown = copy.copy(hit_type)
    shown.language = language
    shown.title, shown.description = said.title, said.description
    shown.criteria = said.criteria
    if said.instructions:
        shown.form = {**shown.form, "instructions": said.instructions}
    return shown


def template_of(hit_type: HITType) -> HITTemplate:
    return template_in(hit_type, hit_type.language)


def wording(asked: Asking, language: str, labels: Iterable[str] = ()) -> Wording:
    """Collect the words in a language: from the task, or else from its template.

    In the task's own language, no word is missing.
    """
    own = asked.form.get("languages", {}).get(language, {})
    written = language == language_written(asked)
    shown = template_in(asked, language)
    knows = language in shown.words or language == ENGLISH
    found = Wording(
        title=asked.title if written else own.get("title") or _titled(asked, shown),
        description=asked.description if written else shown.description,
        instructions=own.get("instructions", ""),
    )
    usual = hit_templates.get(asked.template).questions
    translated = {text: shown.questions[name] for name, text in usual.items()}
    for name, text in asked.criteria.items():
        said = own.get("questions", {}).get(name) or (knows and translated.get(text))
        found.criteria[name] = said or text
        if not said:
            found.missing.append(f"questions.{name}")
    if asked.form.get("instructions"):
        if written:
            found.instructions = asked.form["instructions"]
        knows = False
    if not (found.instructions or knows):
        found.missing.append("instructions")
    if language != ENGLISH:
        labels = [*labels, *errors_named(asked)]
    found.missing += [f"labels.{one}" for one in labels if one not in shown.labels]
    found.missing += _of_answers(asked, language)
    if written:
        found.missing.clear()
    return found


def errors_named(asked: Asking) -> list[str]:
    template = hit_templates.get(asked.template)
    if not template.marks_errors:
        return []
    own = asked.form.get("errors") or template.form.get("errors", {})
    return read_errors(own).words


def _titled(asked: Asking, shown: HITTemplate) -> str:
    task = asked.title.partition(": ")[2]
    return f"{shown.title} · {task}" if task else shown.title


def _of_answers(asked: Asking, language: str) -> Iterator[str]:
    if language == ENGLISH:
        return
    scale = all_scales().get(asked.scale)
    if scale is not None and not scale.is_in(language):
        yield SCALE
    if asked.form.get("checkboxes") and language not in CHECKBOXES_IN:
        yield CHECKED


def template_in(asked: Asking, language: str) -> HITTemplate:
    template = hit_templates.get(asked.template)
    if language in template.words:
        template = template.in_words(language)
    own = asked.form.get("languages", {}).get(language, {})
    return template.with_labels(own.get("labels", {}))


def _may_be(asked: Asking) -> set[str]:
    words = hit_templates.get(asked.template).words
    return {ENGLISH, *words, *asked.form.get("languages", {})}
