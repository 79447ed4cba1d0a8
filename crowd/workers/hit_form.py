from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from crowd.hit_templates import HITTemplate
from crowd.hits.models import Answer, Assignment, HITType, Item
from crowd.hits.selectors import (
    SPANS,
    Asked,
    form_of,
    language_of,
    questions_about,
    template_of,
    worded,
)
from crowd.scales.base import Scale
from crowd.workers.marked_output import Marks, as_sent, marks_name, marks_of
from crowd.workers.models.qualification_test import QualificationQuestion
from crowd.workers.services.test_marks import CHOICE, as_item

REMARK_CHARACTERS = 2_000


class AccountForm(UserCreationForm):  # type: ignore[type-arg]
    ...


class InvitationForm(forms.Form):
    code = forms.CharField(
        max_length=40,
        label=_("Code"),
        help_text=_("Whoever sent you the link has told you."),
    )


class InvitedAccountForm(InvitationForm, AccountForm): ...


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
    hit_type = worded(page[0].hit.campaign.hit_type, language_of(page[0]))
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
    asked = questions_about(hit_type, item.data)
    one_by_one = any(question.slot for question in asked)
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
    rows = Answer.objects.filter(assignment__in=[one.pk for one in page])
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
    question: QualificationQuestion,
    hit_type: HITType | None,
    posted: Mapping[str, str],
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
    question: QualificationQuestion,
    hit_type: HITType | None,
    posted: Mapping[str, str],
) -> dict[str, str]:
    shown = shown_question(question, hit_type, posted)
    if isinstance(shown, Shown):
        return sent_to(shown)
    return {CHOICE: shown.raw_answer} if shown.raw_answer else {}
