from collections.abc import Callable
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from crowd.requester.questions.question_form import Asked, Form, FreeText

Values = Callable[[str], list[str]]


@dataclass(frozen=True)
class Option:
    identifier: str
    text: SafeString
    chosen: bool


@dataclass(frozen=True)
class Field:
    asked: Asked
    text: SafeString
    value: str
    other: str
    options: list[Option]
    error: str

    @property
    def one_only(self) -> bool:
        selection = self.asked.selection
        return selection is not None and selection.at_most <= 1

    @property
    def free_text(self) -> FreeText | None:
        return self.asked.answer if isinstance(self.asked.answer, FreeText) else None


@dataclass(frozen=True)
class Part:
    text: SafeString
    field: Field | None = None


def form_parts(
    form: Form, values: Values, errors: dict[str, str] | None = None
) -> list[Part]:
    parts = []
    for part in form.parts:
        if isinstance(part, Asked):
            field = _field(part, values, errors)
            parts.append(Part(field.text, field))
        else:
            parts.append(Part(_safe(part)))
    return parts


def _field(question: Asked, values: Values, errors: dict[str, str] | None) -> Field:
    sent = values(question.name)
    selection = question.selection
    usual = question.answer.default if isinstance(question.answer, FreeText) else ""
    return Field(
        asked=question,
        text=_safe(question.html),
        value=sent[0] if sent else ("" if errors else usual),
        other="".join(values(f"{question.name}-other")[:1]),
        options=[
            Option(choice.identifier, _safe(choice.html), choice.identifier in sent)
            for choice in (selection.choices if selection else ())
        ],
        error=(errors or {}).get(question.name, ""),
    )


def _safe(html: str) -> SafeString:
    # Made by requester_api.question_form, which escapes texts and removes active
    # content from formatted ones.
    return mark_safe(html)  # noqa: S308
