"""A HIT template in another language: template.LL.toml and instructions.LL.md.

These files hold only words. The questions, their order and the meaning of answers are
defined once, in template.toml. All of its words must be translated.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.template import Engine

from genie.lib.errors import GenieError

FOLDER_OF_PARTS = Path(__file__).resolve().parent / "parts"
LANGUAGE = r"[a-z]{2,3}(?:-[a-z0-9]{2,8})*"
# consent.LL.md is read together with consent.md; see consent.py.
FILE = re.compile(rf"(?:template\.({LANGUAGE})\.toml|instructions\.({LANGUAGE})\.md)")
KEYS = ("title", "description", "questions", "shown", "labels")
_TABLES = KEYS[2:]
_TOKEN = re.compile(r"(<[^>]*>|{%.*?%}|{#.*?#})", re.DOTALL)
_VALUE = re.compile(r"{{.*?}}")
_LITERAL = re.compile(r'\b(heading|what)="([^"]*)"')
_INCLUDED = re.compile(r'{%\s*include\s+"([a-z]+\.html)"')
# Whole sentences are translated, and this one is composed.
_EMPTY = "{{ what }} is empty."


@dataclass(frozen=True)
class Words:
    title: str
    description: str
    # criterion -> question
    questions: Mapping[str, str]
    # words of template.html and its parts -> translation
    shown: Mapping[str, str]
    # input -> label
    labels: Mapping[str, str]
    instructions_markdown: str


def languages_in(names: Iterable[str]) -> list[str]:
    """Return the languages of a template's files, without its own.

    Examples
    --------
    >>> languages_in(["template.toml", "template.de.toml", "instructions.zh-hans.md"])
    ['de', 'zh-hans']
    """
    found = (FILE.fullmatch(name) for name in names)
    return sorted({match[1] or match[2] for match in found if match})


def read_words(
    slug: str,
    language: str,
    texts: Mapping[str, str],
    *,
    questions: Mapping[str, str],
    example: Mapping[str, Any],
) -> Words:
    """Read a template's words in one language; errors name the file and what is missing.

    Raises
    ------
    GenieError
        ``broken-hit-template``
    """
    toml, markdown = f"template.{language}.toml", f"instructions.{language}.md"
    for name in (toml, markdown):
        if name not in texts:
            raise _broken(slug, f"{name} is missing")
    try:
        said = tomllib.loads(texts[toml])
    except ValueError as error:
        raise _broken(slug, f"{toml} is no TOML ({error})") from error
    for problem in _problems(said, texts["template.html"], questions, example):
        raise _broken(slug, f"{toml} {problem}")
    if not texts[markdown].strip():
        raise _broken(slug, f"{markdown} is empty")
    return Words(
        title=said["title"],
        description=said["description"],
        questions={name: said["questions"][name] for name in questions},
        shown=said.get("shown", {}),
        labels=said.get("labels", {}),
        instructions_markdown=texts[markdown],
    )


def _problems(
    said: Mapping[str, Any],
    source: str,
    questions: Mapping[str, str],
    example: Mapping[str, Any],
) -> Iterator[str]:
    if unknown := sorted({*said} - {*KEYS}):
        yield (
            f"has {unknown[0]!r}, and only words differ by language: {', '.join(KEYS)}"
        )
    tables = {name: said.get(name, {}) for name in _TABLES}
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            yield f"must have a table at {name}"
            return
    labels = [part["label"] for part in example.get("fields", [])]
    needed = {"questions": [*questions], "shown": strings_of(source), "labels": labels}
    yield from _find_missing(said, tables, needed)
    for table in ("questions", "shown"):
        for name in sorted({*tables[table]} - {*needed[table]}):
            yield f'has {table}."{name}", which the template does not say'
    for name, text in tables["shown"].items():
        if not _can_stand(name, text):
            yield f'cannot say {text!r} for shown."{name}": plain words only'


def _find_missing(
    said: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
    needed: Mapping[str, Iterable[str]],
) -> Iterator[str]:
    for name in ("title", "description"):
        if name not in said:
            yield f"does not say {name}"
    for table, names in needed.items():
        for name in names:
            if name not in tables[table]:
                yield f'does not say {table}."{name}"'
    for key, text in _all(said):
        if not isinstance(text, str) or not text.strip():
            yield f"must say something at {key}"


def _all(said: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in said.items():
        if isinstance(value, Mapping):
            yield from ((f'{name}."{key}"', text) for key, text in value.items())
        else:
            yield name, value


def _can_stand(name: str, text: str) -> bool:
    same = sorted(_VALUE.findall(text)) == sorted(_VALUE.findall(name))
    return same and not set(_VALUE.sub("", text)) & set('<>&{}%"\\')


def strings_of(source: str) -> list[str]:
    """Return the words of a template.html, including its parts.

    Examples
    --------
    >>> strings_of('{% include "output.html" with heading="Text" what="The text" %}')
    ['Text', 'The text is empty.']
    >>> strings_of('{% include "reference.html" %}<h2>What {{ n }} said</h2>')
    ['What {{ n }} said', 'Reference']
    """
    found = [*_strings(source)]
    waiting = _INCLUDED.findall(source)
    while waiting:
        part = _parts().get(waiting.pop(0), "")
        found += _strings(part)
        waiting += _INCLUDED.findall(part)
    return list(dict.fromkeys(found))


def _strings(source: str) -> Iterator[str]:
    for place, piece in enumerate(_TOKEN.split(source)):
        if place % 2:
            for name, text in _LITERAL.findall(piece):
                yield text if name == "heading" else f"{text} is empty."
        elif piece.strip() != _EMPTY and any(map(str.isalpha, _VALUE.sub("", piece))):
            yield piece.strip()


def put_into(source: str, shown: Mapping[str, str]) -> str:
    """Replace the words of a source by their translations.

    Examples
    --------
    >>> put_into("<h2>Reference</h2>", {"Reference": "Referenz"})
    '<h2>Referenz</h2>'
    """

    def literal(match: re.Match[str]) -> str:
        name, text = match.groups()
        said = shown.get(text if name == "heading" else f"{text} is empty.", text)
        return f'{name}="{said}"'

    def piece(place: int, text: str) -> str:
        if place % 2:
            return _LITERAL.sub(literal, text)
        core = text.strip()
        return text.replace(core, shown.get(core, core)) if core else text

    pieces = enumerate(_TOKEN.split(source.replace(_EMPTY, "{{ what }}")))
    return "".join(piece(place, text) for place, text in pieces)


def engine(shown: Mapping[str, str]) -> Engine:
    parts = {name: put_into(source, shown) for name, source in _parts().items()}
    loader = ("django.template.loaders.locmem.Loader", parts)
    # Without it, each page would parse its parts again.
    kept = ("django.template.loaders.cached.Loader", [loader])
    return Engine(loaders=[kept], autoescape=True, libraries={})


@cache
def _parts() -> Mapping[str, str]:
    return {
        path.name: path.read_text(encoding="utf-8")
        for path in FOLDER_OF_PARTS.glob("*.html")
    }


def _broken(slug: str, problem: str) -> GenieError:
    return GenieError(
        f"The HIT template {slug} cannot be read: {problem}.",
        code="broken-hit-template",
    )
