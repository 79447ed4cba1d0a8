from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from crowd.requester.protocol.errors import TurkError
from crowd.requester.protocol.xml import parse
from crowd.requester.questions.answers import FormAnswer, read_key
from crowd.requester.questions.question_form import (
    ROOTS,
    Asked,
    Form,
    FreeText,
    Selection,
    read_form,
)

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
HTML = f"{{{_SCHEMAS}2011-11-11/HTMLQuestion.xsd}}"
EXTERNAL = f"{{{_SCHEMAS}2006-07-14/ExternalQuestion.xsd}}"
MAX_HEIGHT = 100_000


@dataclass(frozen=True)
class Question:
    kind: Literal["html", "external", "form"]
    content: str
    frame_height: int


def read_question(text: str) -> Question:
    root = parse(text, "Question")
    if root.tag == f"{HTML}HTMLQuestion":
        content, height = _two(root, f"{HTML}HTMLContent", f"{HTML}FrameHeight")
        if not content.strip():
            raise _wrong("HTMLContent is empty")
        return Question("html", content, height)
    if root.tag == f"{EXTERNAL}ExternalQuestion":
        url, height = _two(root, f"{EXTERNAL}ExternalURL", f"{EXTERNAL}FrameHeight")
        return Question("external", _address(url.strip()), height)
    if root.tag in ROOTS:
        read_form(text)
        return Question("form", text, 0)
    raise _wrong(f"no question has the root element {root.tag[:200]}")


def check_test(text: str) -> None:
    read_form(text, "Test")


def check_answer_key(text: str) -> None:
    read_key(text)


def _two(root: Element, content: str, height: str) -> tuple[str, int]:
    if [child.tag for child in root] != [content, height]:
        names = [content.split("}")[1], height.split("}")[1]]
        raise _wrong(
            f"it must contain {names[0]} and then {names[1]}, and nothing else"
        )
    digits = (root[1].text or "").strip()
    if not (digits.isascii() and digits.isdecimal() and int(digits[:9]) <= MAX_HEIGHT):
        raise _wrong(f"FrameHeight must be a whole number up to {MAX_HEIGHT}")
    if len(root[0]):
        raise _wrong(f"wrap the content of {content.split('}')[1]} in CDATA")
    return root[0].text or "", int(digits)


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_https = parts.scheme == "https" and bool(parts.hostname)
    except ValueError:
        is_https = False
    if not is_https or any(c.isspace() for c in url):
        raise _wrong("ExternalURL must be a full address that begins with https://")
    return url


def _wrong(why: str, name: str = "Question") -> TurkError:
    return TurkError(
        f"There was an error parsing the XML of {name}: {why}.", "XMLParseError"
    )


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
    return _read_choice(question, question.answer, values)


def _read_choice(
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
