from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from crowd.requester.protocol.errors import TurkError
from crowd.requester.protocol.xml import parse
from crowd.requester.questions.answer_key import read_key
from crowd.requester.questions.question_form import ROOTS, read_form

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
