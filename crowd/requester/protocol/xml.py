"""Read untrusted XML: no document type, no entities, limited depth."""

from xml.etree.ElementTree import Element

from crowd.platforms.mturk_protocol import xml
from crowd.requester.protocol.errors import TurkError


def parse(text: str, name: str) -> Element:
    """Parse XML; errors of its form are ``XMLParseError``."""
    return xml.parse(text, lambda why: refusal(name, why))


def refusal(name: str, why: str) -> TurkError:
    return TurkError(
        f"There was an error parsing the XML of {name}: {why}.", "XMLParseError"
    )


def local_tag(node: Element) -> str:
    return node.tag.rpartition("}")[2]


def child_of(node: Element | None, tag: str) -> Element | None:
    for child in node if node is not None else ():
        if local_tag(child) == tag:
            return child
    return None


def text_of(node: Element, tag: str) -> str:
    child = child_of(node, tag)
    return (child.text or "").strip() if child is not None else ""
