"""What a worker filled into a QuestionForm, checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from crowd.requester_api.answers import FormAnswer
from crowd.requester_api.question_form import Asked, Form, FreeText, Selection

# Gives all values of a field, in order.
Values = Callable[[str], list[str]]


@dataclass(frozen=True)
class Filled:
    """The answers, and by the questions' field names what must be mended."""

    answers: list[FormAnswer]
    errors: dict[str, str]


def read_answers(form: Form, values: Values) -> Filled:
    """Read a sent form.

    Examples
    --------
    >>> from crowd.requester_api.question_form import Choice
    >>> sky = Asked("q0", "sky", True, "", Selection((Choice("b", "blue"),)))
    >>> read_answers(Form((sky,)), lambda name: []).errors
    {'q0': 'Please choose an answer.'}
    >>> read_answers(Form((sky,)), lambda name: ["b"]).answers[0].selections
    ('b',)
    """
    answers, errors = [], {}
    for asked in form.questions:
        answer, error = _read(asked, values)
        answers.append(answer)
        if error:
            errors[asked.name] = error
    return Filled(answers, errors)


def _read(asked: Asked, values: Values) -> tuple[FormAnswer, str]:
    if isinstance(asked.answer, FreeText):
        text = "".join(values(asked.name)[:1]).replace("\r\n", "\n")
        return FormAnswer(asked.identifier, text=text), _text_error(
            asked.answer, text, asked.required
        )
    return _chosen(asked, asked.answer, values)


def _chosen(
    asked: Asked, selection: Selection, values: Values
) -> tuple[FormAnswer, str]:
    known = [choice.identifier for choice in selection.choices]
    sent = values(asked.name)
    picked = tuple(one for one in known if one in sent)
    other = None
    if selection.other is not None:
        other = "".join(values(f"{asked.name}-other")[:1]).strip() or None
    answer = FormAnswer(asked.identifier, selections=picked, other=other)
    if other is not None and selection.other is not None:
        error = _text_error(selection.other, other, False)
        if error:
            return answer, error
    return answer, _count_error(
        selection, len(picked) + (other is not None), asked.required
    )


def _count_error(selection: Selection, n: int, required: bool) -> str:
    if n == 0:
        return "Please choose an answer." if required and selection.at_least else ""
    if n < selection.at_least:
        return f"Please choose at least {selection.at_least}."
    if n > max(selection.at_most, 1):
        return f"Please choose at most {max(selection.at_most, 1)}."
    return ""


def _text_error(wanted: FreeText, text: str, required: bool) -> str:
    if not text.strip():
        # A pattern may ask for an answer, and lets none pass if it says so: (^$|...).
        return _format_error(wanted, text) or (
            "Please answer this question." if required else ""
        )
    if len(text) < wanted.shortest:
        return f"Please write at least {wanted.shortest} characters."
    if len(text) > wanted.longest:
        return f"Please write at most {wanted.longest} characters."
    if wanted.numeric and (error := _number_error(wanted, text)):
        return error
    return _format_error(wanted, text)


def _format_error(wanted: FreeText, text: str) -> str:
    """Give the requester's own words for the first pattern that is not there."""
    return next((one.error for one in wanted.formats if not one.fits(text)), "")


def _number_error(wanted: FreeText, text: str) -> str:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return "Please enter a number."
    if not number.is_finite():
        return "Please enter a number."
    if wanted.low is not None and number < wanted.low:
        return f"Please enter a number of at least {wanted.low}."
    if wanted.high is not None and number > wanted.high:
        return f"Please enter a number of at most {wanted.high}."
    return ""
