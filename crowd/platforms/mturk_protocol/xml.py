import re
from collections.abc import Callable, Sequence
from typing import NoReturn
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat
from xml.sax.saxutils import escape  # for writing only

from crowd.platforms.base import FormQuestion
from genie.lib.errors import GenieError

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
HTML = f"{SCHEMAS}2011-11-11/HTMLQuestion.xsd"
EXTERNAL = f"{SCHEMAS}2006-07-14/ExternalQuestion.xsd"
FORM = f"{SCHEMAS}2017-11-06/QuestionForm.xsd"
KEY = f"{SCHEMAS}2005-10-01/AnswerKey.xsd"
# Of a question or a test, as UTF-8, with all its markup.
MAX_BYTES = 65_535
MAX_DEPTH = 60
# XML 1.0 cannot hold these, not even as a reference.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def clean(text: str) -> str:
    r"""Remove characters that XML cannot hold.

    Examples
    --------
    >>> clean("a\x00b\x1bc\n")
    'abc\n'
    """
    return _FORBIDDEN.sub("", text)


def html_question(page: str) -> str:
    """Wrap a page of HTML, whose frame grows with it.

    Raises
    ------
    GenieError
        ``question-too-long`` if it has too many bytes to be posted.

    Examples
    --------
    >>> html_question("<p>a ]]> b</p>").split("HTMLContent>")[1][:-2]
    '<![CDATA[<p>a ]]]]><![CDATA[> b</p>]]>'
    """
    # A CDATA section cannot hold its own end, so it is closed and reopened in the
    # middle of it.
    content = clean(page).replace("]]>", "]]]]><![CDATA[>")
    return _check_size(
        f'<HTMLQuestion xmlns="{HTML}"><HTMLContent><![CDATA[{content}]]></HTMLContent>'
        "<FrameHeight>0</FrameHeight></HTMLQuestion>"
    )


def external_question(url: str) -> str:
    """Return a reference to a page of ours, which must be served over https.

    Examples
    --------
    >>> "a=1&amp;b=2" in external_question("https://example.org/?a=1&b=2")
    True
    """
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise GenieError(
            f"Mechanical Turk only shows pages over https, not {url[:80]!r}.",
            code="external-url",
        )
    return _check_size(
        f'<ExternalQuestion xmlns="{EXTERNAL}"><ExternalURL>{_text(url)}'
        "</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>"
    )


def question_form(
    title: str, introduction: str, questions: Sequence[FormQuestion]
) -> str:
    """Return a qualification test as multiple choice, one answer each.

    Examples
    --------
    >>> from crowd.platforms.base import Choice
    >>> ask = FormQuestion("q1", "Which is right?", [Choice("a", "This"),
    ...                    Choice("b", "That")], ["a"])
    >>> question_form("Test", "Choose.", [ask]).count("<Selection>")
    2
    """
    body = "".join(_test_question(question) for question in questions)
    intro = f"<Text>{_text(introduction)}</Text>" if introduction.strip() else ""
    return _check_size(
        f'<QuestionForm xmlns="{FORM}"><Overview><Title>{_text(title)}</Title>'
        f"{intro}</Overview>{body}</QuestionForm>"
    )


def answer_key(questions: Sequence[FormQuestion]) -> str:
    """Return a test's key; its value is the percentage of right answers.

    Examples
    --------
    >>> from crowd.platforms.base import Choice
    >>> ask = FormQuestion("q1", "?", [Choice("a", "This"), Choice("b", "That")], ["b"])
    >>> "<SelectionIdentifier>b</SelectionIdentifier>" in answer_key([ask])
    True
    """
    scored = "".join(
        f"<Question><QuestionIdentifier>{_text(question.key)}</QuestionIdentifier>"
        + "".join(
            f"<AnswerOption><SelectionIdentifier>{_text(key)}</SelectionIdentifier>"
            "<AnswerScore>1</AnswerScore></AnswerOption>"
            for key in question.right
        )
        + "</Question>"
        for question in questions
    )
    return _check_size(
        f'<AnswerKey xmlns="{KEY}">{scored}<QualificationValueMapping>'
        f"<PercentageMapping><MaximumSummedScore>{len(questions)}</MaximumSummedScore>"
        "</PercentageMapping></QualificationValueMapping></AnswerKey>"
    )


def read_answers(text: str) -> dict[str, str]:
    """Read an assignment's answer: the fields of the submitted form.

    The text is untrusted. Unknown fields are returned, too, because worker scripts add
    some.

    Raises
    ------
    GenieError
        ``unreadable-answer`` for anything but QuestionFormAnswers.
    """
    if not text.strip():
        return {}
    answers: dict[str, str] = {}
    root = parse(text.encode("utf-8", "replace").decode(), _unreadable, "utf-8")
    if _local(root) != "QuestionFormAnswers":
        raise _unreadable("it is not a QuestionFormAnswers")
    for answer in root:
        name, value = "", ""
        for part in answer:
            if _local(part) == "QuestionIdentifier":
                name = part.text or ""
            elif _local(part) in {"FreeText", "SelectionIdentifier"}:
                value = part.text or ""
        if name:
            answers[name] = value
    return answers


def _test_question(question: FormQuestion) -> str:
    choices = "".join(
        f"<Selection><SelectionIdentifier>{_text(choice.key)}</SelectionIdentifier>"
        f"<Text>{_text(choice.text)}</Text></Selection>"
        for choice in question.choices
    )
    return (
        f"<Question><QuestionIdentifier>{_text(question.key)}</QuestionIdentifier>"
        "<IsRequired>true</IsRequired><QuestionContent>"
        f"<Text>{_text(question.text)}</Text></QuestionContent><AnswerSpecification>"
        "<SelectionAnswer><StyleSuggestion>radiobutton</StyleSuggestion>"
        f"<Selections>{choices}</Selections></SelectionAnswer></AnswerSpecification>"
        "</Question>"
    )


def _text(value: str) -> str:
    return escape(clean(value))


def _check_size(xml: str) -> str:
    size = len(xml.encode())
    if size > MAX_BYTES:
        raise GenieError(
            f"The page has {size:,} bytes; Mechanical Turk accepts at most "
            f"{MAX_BYTES:,}. Post it as the address of a page instead.",
            code="question-too-long",
            details={"bytes": size},
        )
    return xml


def parse(
    text: str, refuse: Callable[[str], Exception], encoding: str | None = None
) -> Element:
    """Parse untrusted XML into elements named ``{namespace}tag``.

    Parameters
    ----------
    refuse : callable
        Returns the error for XML that is not well-formed, has a document type (hence
        entities), or is nested too deeply.
    encoding : str, optional
        Of the text; its first line may declare another.

    Examples
    --------
    >>> parse("<a xmlns='urn:x'><b>1</b></a>", ValueError).tag
    '{urn:x}a'
    """
    builder = TreeBuilder()
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise refuse(f"it is nested more than {MAX_DEPTH} deep")
        builder.start(
            _qualified_name(tag), {_qualified_name(k): v for k, v in attributes.items()}
        )

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_qualified_name(tag))

    def no_document_type(*_: object) -> NoReturn:
        raise refuse("it has a document type, which is not allowed")

    parser = expat.ParserCreate(encoding, namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    # Entities can only be declared inside a document type.
    parser.StartDoctypeDeclHandler = no_document_type
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise refuse(str(error)) from None
    except (ValueError, LookupError):  # an unknown encoding
        raise refuse("its encoding is not UTF-8") from None
    return builder.close()


def _qualified_name(tag: str) -> str:
    return "{" + tag if "}" in tag else tag


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _unreadable(why: str) -> GenieError:
    return GenieError(
        f"The answer from Mechanical Turk cannot be read: {why}.",
        code="unreadable-answer",
    )
