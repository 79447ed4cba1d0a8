"""Requesters' formatted text, as HTML that is safe on our own pages."""

import re
from html import escape
from html.entities import html5
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from crowd.requester.protocol.xml import parse

_SAME = frozenset(
    [
        "b",
        "blockquote",
        "br",
        "cite",
        "code",
        "dd",
        "del",
        "dl",
        "dt",
        "em",
        "hr",
        "i",
        "ins",
        "li",
        "ol",
        "p",
        "pre",
        "q",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "tt",
        "u",
        "ul",
        "var",
    ]
)
# Whatever their level, because on our page the title is above them.
_OTHER = {**dict.fromkeys(["h1", "h2", "h3", "h4", "h5", "h6"], "h2"), "strike": "s"}
_EMPTY = frozenset({"br", "hr", "img"})
# Dropped with all their content, which is no text to read.
_DROPPED = frozenset({"script", "style", "object", "applet", "iframe", "form"})
_XML_ONLY = frozenset({"amp", "lt", "gt", "quot", "apos"})


def safe_html(text: str, name: str = "FormattedContent") -> str:
    """Keep the formatting of XHTML and remove scripts, styles, forms and frames.

    Links open in another tab.

    Raises
    ------
    TurkError
        If it is not well-formed.
    """
    # Most named characters are HTML's; an XML parser knows five of them.
    named = re.sub(r"&(\w+);", _character, text)
    return _inside(parse(f"<x>{named}</x>", name))


def _character(match: re.Match[str]) -> str:
    known = match[1] not in _XML_ONLY and f"{match[1]};" in html5
    return html5[f"{match[1]};"] if known else match[0]


def _inside(node: Element) -> str:
    parts = [escape(node.text or "", quote=False)]
    for child in node:
        parts += [_shown(child), escape(child.tail or "", quote=False)]
    return "".join(parts)


def _shown(node: Element) -> str:
    tag = node.tag.split("}")[-1].lower()
    if tag in _DROPPED:
        return ""
    if tag == "a":
        return _link(node)
    if tag == "img":
        return image(node.get("src", ""), node.get("alt", ""))
    kept = _OTHER.get(tag, tag)
    if kept not in _SAME and kept != "h2":
        return _inside(node)
    if kept in _EMPTY:
        return f"<{kept}>"
    return f"<{kept}{_spans(node)}>{_inside(node)}</{kept}>"


def image(address: str, alternative: str) -> str:
    """Show an image with an https address; otherwise only its alternative text."""
    if not is_web(address, {"https"}):
        return escape(alternative)
    return f'<img src="{escape(address)}" alt="{escape(alternative)}">'


def is_web(address: str, schemes: set[str]) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in schemes and bool(parts.hostname)
    except ValueError:
        return False


def _link(node: Element) -> str:
    address = node.get("href", "").strip()
    if not is_web(address, {"http", "https"}):
        return _inside(node)
    return (
        f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">'
        f"{_inside(node)}</a>"
    )


def _spans(node: Element) -> str:
    attributes = ((name, node.get(name, "")) for name in ("colspan", "rowspan"))
    return "".join(
        f' {name}="{value}"'
        for name, value in attributes
        if value.isascii() and value.isdecimal() and len(value) <= 3
    )
