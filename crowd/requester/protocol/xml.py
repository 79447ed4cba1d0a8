"""Read untrusted XML: no document type, no entities, limited depth."""

from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from crowd.requester.protocol.errors import TurkError

MAX_DEPTH = 60


def parse(text: str, name: str) -> Element:
    """Parse XML into elements named ``{namespace}tag``.

    Raises
    ------
    TurkError
        ``XMLParseError``: not well-formed, with a document type, or nested too deeply.

    Examples
    --------
    >>> parse("<a xmlns='urn:x'><b>1</b></a>", "Question").tag
    '{urn:x}a'
    """
    builder = TreeBuilder()
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise _refusal(name, f"it is nested more than {MAX_DEPTH} deep")
        builder.start(_named(tag), {_named(k): v for k, v in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_named(tag))

    def no_document_type(*_: object) -> NoReturn:
        raise _refusal(name, "it has a document type, which is not allowed")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    # Entities can only be declared inside a document type.
    parser.StartDoctypeDeclHandler = no_document_type
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise _refusal(name, str(error)) from None
    except (ValueError, LookupError):  # an unknown encoding
        raise _refusal(name, "its encoding is not UTF-8") from None
    return builder.close()


def _named(tag: str) -> str:
    return "{" + tag if "}" in tag else tag


def _refusal(name: str, why: str) -> TurkError:
    return TurkError(
        f"There was an error parsing the XML of {name}: {why}.", "XMLParseError"
    )
