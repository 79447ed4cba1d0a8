from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from crowd.requester.questions.answers import FormAnswer
from crowd.requester.questions.question_form import Asked, Form, FreeText, Selection

# Returns all values of a field, in order.
Values = Callable[[str], list[str]]


@dataclass(frozen=True)
class Filled:
    answers: list[FormAnswer]
    errors: dict[str, str]


def read_answers(form: Form, values: Values) -> Filled:
    answers, errors = [], {}
    for question in form.questions:
        answer, error = _read(question, values)
        answers.append(answer)
        if error:
            errors[question.name] = error
    return Filled(answers, errors)


def _read(question: Asked, values: Values) -> tuple[FormAnswer, str]:
    if isinstance(question.answer, FreeText):
        # Browsers send two characters for the end of a line; its length counts one.
        text = "".join(values(question.name)[:1]).replace("\r\n", "\n")
        return FormAnswer(question.identifier, text=text), _text_error(
            question.answer, text, question.required
        )
    return _chosen(question, question.answer, values)


def _chosen(
    question: Asked, selection: Selection, values: Values
) -> tuple[FormAnswer, str]:
    known = [choice.identifier for choice in selection.choices]
    sent = values(question.name)
    picked = tuple(identifier for identifier in known if identifier in sent)
    other = None
    if selection.other is not None:
        other = "".join(values(f"{question.name}-other")[:1]).strip() or None
    answer = FormAnswer(question.identifier, selections=picked, other=other)
    if other is not None and selection.other is not None:
        error = _text_error(selection.other, other, False)
        if error:
            return answer, error
    return answer, _count_error(
        selection, len(picked) + (other is not None), question.required
    )


def _count_error(selection: Selection, n: int, required: bool) -> str:
    if n == 0:
        return "Please choose an answer." if required and selection.at_least else ""
    if n < selection.at_least:
        return f"Please choose at least {selection.at_least}."
    if n > max(selection.at_most, 1):
        return f"Please choose at most {max(selection.at_most, 1)}."
    return ""


def _text_error(free_text: FreeText, text: str, required: bool) -> str:
    if not text.strip():
        # A pattern may require an answer, and accepts none if it says so: (^$|...).
        return _format_error(free_text, text) or (
            "Please answer this question." if required else ""
        )
    if len(text) < free_text.shortest:
        return f"Please write at least {free_text.shortest} characters."
    if len(text) > free_text.longest:
        return f"Please write at most {free_text.longest} characters."
    if free_text.numeric and (error := _number_error(free_text, text)):
        return error
    return _format_error(free_text, text)


def _format_error(free_text: FreeText, text: str) -> str:
    return next(
        (
            answer_format.error
            for answer_format in free_text.formats
            if not answer_format.fits(text)
        ),
        "",
    )


def _number_error(free_text: FreeText, text: str) -> str:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return "Please enter a number."
    if not number.is_finite():
        return "Please enter a number."
    if free_text.low is not None and number < free_text.low:
        return f"Please enter a number of at least {free_text.low}."
    if free_text.high is not None and number > free_text.high:
        return f"Please enter a number of at most {free_text.high}."
    return ""
