import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from crowd.hit_templates import HITTemplate
from crowd.hit_templates.form import BELOW, Errors
from crowd.hits.models import Assignment, HITType, Item, Rating
from crowd.hits.selectors import (
    SPANS,
    Asked,
    Marked,
    errors_of,
    form_of,
    language_for,
    language_of,
    marked_texts,
    questions_about,
    spans_key,
    template_of,
    translate_hit_type,
)
from crowd.hits.services.check_answers import ratings_of
from crowd.scales.base import Scale
from crowd.workers.models.qualification_test import QualificationQuestion
from crowd.workers.services.known_answers import CHOICE, as_item
from genie.lib.errors import GenieError

Categories = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True)
class Marks:
    # the key under which they are checked
    key: str
    name: str
    text: str
    raw_answer: str
    severities: tuple[str, ...]
    # category -> the choices: form value and label
    categories: Categories
    missing: bool
    # whether errors were marked before the worker came
    prefilled: bool


def marks_of(
    hit_type: HITType, item: Item, posted: Mapping[str, str], i: int
) -> dict[str, Marks]:
    texts = marked_texts(hit_type, item.data)
    if not texts:
        return {}
    errors = errors_of(hit_type)
    categories = _categories(errors, template_of(hit_type).labels)
    return {
        slot: Marks(
            key=spans_key(slot),
            name=marks_name(slot, i),
            text=json.dumps(marked.text),
            raw_answer=_raw_marks(marked, posted, marks_name(slot, i)),
            severities=errors.severities,
            categories=categories,
            missing=errors.missing,
            prefilled=bool(marked.prefilled),
        )
        for slot, marked in texts.items()
    }


def marks_name(slot: str, i: int) -> str:
    return f"spans-{i}-{slot}" if slot else f"spans-{i}"


def _categories(errors: Errors, labels: Mapping[str, str]) -> Categories:
    def read(name: str) -> str:
        last = name.rpartition(BELOW)[2]
        return labels.get(last, last)

    return tuple(
        (read(category), tuple((kind, read(kind)) for kind in kinds))
        for category, kinds in errors.by_category()
    )


def _raw_marks(marked: Marked, posted: Mapping[str, str], name: str) -> str:
    raw = posted.get(name, as_sent(marked.prefilled or []))
    # without its script, a page has no other way to report an omission
    severity = posted.get(f"{name}-missing", "")
    if not severity:
        return raw
    kind = posted.get(f"{name}-missing-category", "")
    try:
        spans = json.loads(raw or "[]")
        spans = [span for span in spans if "missing" not in span]
    except (ValueError, TypeError, RecursionError):
        return raw
    said = {"missing": True, "severity": severity}
    return json.dumps([*spans, {**said, "category": kind} if kind else said])


def as_sent(spans: Iterable[Mapping[str, Any]]) -> str:
    """Return stored marks as a page sends them; empty if there are none."""
    keys = ("start", "end", "missing", "severity", "category")
    sent = [{key: span[key] for key in keys if key in span} for span in spans]
    return json.dumps(sent) if sent else ""


REMARK_CHARACTERS = 2_000


class InvitationForm(forms.Form):
    code = forms.CharField(
        max_length=40,
        label=_("Code"),
        help_text=_("It came with your link."),
    )


class AccountForm(InvitationForm, UserCreationForm): ...  # type: ignore[type-arg]


class RaterForm(forms.Form):
    name = forms.CharField(max_length=60, required=False, label=_("Name"))


@dataclass(frozen=True)
class Question:
    name: str
    asked: Asked
    # Whether the browser requires an answer; False while the question is hidden.
    required: bool
    raw_answer: str = ""

    @property
    def text(self) -> str:
        slot = self.asked.slot
        if self.asked.checkbox:
            return self.asked.text
        return f"{slot}: {self.asked.text}" if slot else self.asked.text

    @property
    def scale(self) -> type[Scale]:
        return self.asked.scale


@dataclass(frozen=True)
class Block:
    html: SafeString
    questions: tuple[Question, ...]
    # Shown when the questions before it are answered.
    later: bool = False
    marks: Marks | None = None
    slot: str = ""


@dataclass(frozen=True)
class Shown:
    key: str
    blocks: tuple[Block, ...]

    @property
    def questions(self) -> list[Question]:
        return [question for block in self.blocks for question in block.questions]

    @property
    def marks(self) -> list[Marks]:
        return [block.marks for block in self.blocks if block.marks is not None]

    @property
    def pair(self) -> list[Block]:
        slots = [block for block in self.blocks if block.slot]
        return slots if len(slots) == 2 and len(self.marks) == 2 else []

    @property
    def in_rows(self) -> list[Block]:
        return [block for block in self.blocks if block not in self.pair]


def shown_items(page: Sequence[Assignment], posted: Mapping[str, str]) -> list[Shown]:
    hit_type = translate_hit_type(page[0].hit.campaign.hit_type, language_of(page[0]))
    return [shown_item(hit_type, item, posted, i) for i, _one, item in _items(page)]


def _items(page: Sequence[Assignment]) -> Iterator[tuple[int, Assignment, Item]]:
    pairs = [(one, item) for one in page for item in one.hit.items.all()]
    for i, (one, item) in enumerate(pairs):
        yield i, one, item


def shown_item(
    hit_type: HITType, item: Item, posted: Mapping[str, str], i: int = 0
) -> Shown:
    questions = _questions(hit_type, item, posted, i)
    shows_input = form_of(hit_type).shows_input
    template = template_of(hit_type)
    one_by_one = any(question.slot for question in questions_about(hit_type, item.data))
    how = {"shows_input": shows_input, "one_by_one": one_by_one}
    blocks = _blocks(template, item.data, questions, **how)
    marks = marks_of(hit_type, item, posted, i)
    # in the first block that shows a text's slot
    return Shown(
        item.key,
        tuple(replace(block, marks=marks.pop(block.slot, None)) for block in blocks),
    )


def _questions(
    hit_type: HITType, item: Item, posted: Mapping[str, str], i: int
) -> list[Question]:
    all_asked = questions_about(hit_type, item.data)
    staged = any(question.first for question in all_asked)
    return [
        Question(
            name=f"answer-{i}-{j}",
            asked=question,
            required=not question.checkbox and (question.first or not staged),
            raw_answer=posted.get(f"answer-{i}-{j}", ""),
        )
        for j, question in enumerate(all_asked)
        if not question.scale.counted
    ]


def _blocks(
    template: HITTemplate,
    data: Mapping[str, Any],
    questions: list[Question],
    *,
    shows_input: bool,
    one_by_one: bool,
) -> tuple[Block, ...]:
    first = tuple(question for question in questions if question.asked.first)
    if first:
        later = tuple(question for question in questions if not question.asked.first)
        return (
            Block(template.render(data, ("standard", "output")), first),
            Block(template.render(data, ("input",)), later, later=True),
        )
    parts = ["standard", "input"] if shows_input else ["standard"]
    if not one_by_one:
        return (Block(template.render(data, [*parts, "output"]), tuple(questions)),)
    return (
        Block(template.render(data, parts), ()),
        *(
            Block(
                template.render({**data, "outputs": [output]}, ("output",)),
                tuple(q for q in questions if q.asked.slot == output["slot"]),
                slot=output["slot"],
            )
            for output in data["outputs"]
        ),
    )


def sent_answers(
    page: Sequence[Assignment], posted: Mapping[str, str]
) -> list[dict[str, dict[str, str]]]:
    """Read a page's form, for each assignment: item key, question, raw answer."""
    hit_type = page[0].hit.campaign.hit_type
    answers: dict[int, dict[str, dict[str, str]]] = {one.pk: {} for one in page}
    for i, one, item in _items(page):
        # Reading the form renders no template.
        questions = _questions(hit_type, item, posted, i)
        marks = marks_of(hit_type, item, posted, i).values()
        raw_answers = _raw_answers(questions, marks)
        if raw_answers:
            answers[one.pk][item.key] = raw_answers
    return [answers[one.pk] for one in page]


def stored_answers(page: Sequence[Assignment]) -> dict[str, str]:
    hit_type = page[0].hit.campaign.hit_type
    rows = Rating.objects.filter(assignment__in=[one.pk for one in page])
    stored = {(a.item_id, a.criterion, a.slot): a for a in rows}
    posted = {"remark": "\n".join(one.remark for one in page if one.remark)}
    for i, _one, item in _items(page):
        for question in _questions(hit_type, item, {}, i):
            answer = stored.get(
                (item.pk, question.asked.criterion, question.asked.slot)
            )
            if answer is None:
                continue
            posted[question.name] = answer.raw
        for (pk, _criterion, slot), answer in stored.items():
            if pk == item.pk and answer.detail and SPANS in answer.detail:
                posted[marks_name(slot, i)] = as_sent(answer.detail[SPANS])
    return posted


def sent_to(shown: Shown) -> dict[str, str]:
    return _raw_answers(shown.questions, shown.marks)


def _raw_answers(
    questions: Iterable[Question], marks: Iterable[Marks]
) -> dict[str, str]:
    raw_answers = {q.asked.key: q.raw_answer for q in questions if q.raw_answer}
    return raw_answers | {one.key: one.raw_answer for one in marks if one.raw_answer}


def sent_seconds(posted: Mapping[str, str]) -> float | None:
    """Read the active time in seconds; None if the page's script did not run."""
    try:
        return float(posted.get("active_seconds", ""))
    except ValueError:
        return None


@dataclass(frozen=True)
class Written:
    name: str
    text: str
    # the form value, the key that chooses it, the label
    options: tuple[tuple[str, str, str], ...]
    raw_answer: str = ""


def shown_question(
    question: QualificationQuestion, hit_type: HITType | None, posted: Mapping[str, str]
) -> Shown | Written:
    """Render one question of a test, without a sign of the right answer."""
    if question.data is not None and hit_type is not None:
        return shown_item(hit_type, as_item(question), posted)
    options = tuple(
        (str(index), str(index + 1), text)
        for index, text in enumerate(question.answers)
    )
    return Written(CHOICE, question.text, options, posted.get(CHOICE, ""))


def sent_to_question(
    question: QualificationQuestion, hit_type: HITType | None, posted: Mapping[str, str]
) -> dict[str, str]:
    shown = shown_question(question, hit_type, posted)
    if isinstance(shown, Shown):
        return sent_to(shown)
    return {CHOICE: shown.raw_answer} if shown.raw_answer else {}


def preview(request: HttpRequest, hit_type: HITType, item: Item) -> HttpResponse:
    """Show the page, or what an answer would have stored.

    Neither the HIT type nor the item need be in the database. With ``?lang=de`` it is
    in that language, if all of its words are translated.
    """
    language = language_for(hit_type, request.GET.get("lang"), [item.data])
    with translation.override(language):
        return _answer_page(request, translate_hit_type(hit_type, language), item)


def _answer_page(request: HttpRequest, hit_type: HITType, item: Item) -> HttpResponse:
    if request.method != "POST":
        return _page(request, hit_type, item, {})
    posted = request.POST.dict()
    sentence = _sentence(hit_type, item, posted)
    if request.headers.get("Accept", "").startswith("application/json"):
        return JsonResponse({"error": sentence, "final": False}, status=422)
    return _page(request, hit_type, item, posted, sentence)


def _sentence(hit_type: HITType, item: Item, posted: Mapping[str, Any]) -> str:
    raw_answers = sent_to(shown_item(hit_type, item, posted))
    try:
        ratings = ratings_of(hit_type, item, raw_answers)
    except GenieError as error:
        return error.message
    parts = [
        f"{rating.criterion}{'@' if rating.slot else ''}{rating.slot} = "
        f"{rating.value:g}" + (f" {rating.detail}" if rating.detail else "")
        for rating in ratings
    ]
    return (
        f"This is a preview. Your answer was not stored. It would have stored: "
        f"{'; '.join(parts)}."
    )


def _page(
    request: HttpRequest,
    hit_type: HITType,
    item: Item,
    posted: Mapping[str, Any],
    error: str = "",
) -> HttpResponse:
    context = {
        "assignment": SimpleNamespace(
            pk=0, reward_cents=hit_type.reward_cents or 0, deadline_at=None
        ),
        "hit_type": hit_type,
        "pool": "preview",
        "n_hits": 1,
        "reward_cents": hit_type.reward_cents or 0,
        "items": [shown_item(hit_type, item, posted)],
        "remark": posted.get("remark", ""),
        "remark_characters": REMARK_CHARACTERS,
        "error": error,
        "progress": SimpleNamespace(n_done=0, n_all=1),
        "pending": 0,
        "seconds_left": 1800,
    }
    return render(request, "worker_site/hit.html", context)
