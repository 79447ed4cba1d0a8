"""Checks for every HIT template: ours, an extension's or a bundle's."""

import copy
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

from crowd.hit_templates.template import HITTemplate
from crowd.scales.base import all_scales

HOSTILE = [
    "<script>alert(1)</script>",
    "]]><img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "{{ settings.SECRET_KEY }}{% debug %}{% include 'base.html' %}",
    "\u202egnp.exe\u2066",
    "'\" onmouseover='alert(1)",
    "javascript:alert(1)",
    "a\nb\n\nc",
]
# A page must not have these, because HITs are answered without network and scripts.
FORBIDDEN_TAGS = {"script", "style", "link", "iframe", "img", "object", "embed", "a"}
FORBIDDEN_ATTRIBUTES = ("on", "src", "href", "style")
_SECONDS = (5, 600)
_EMPTY = "is empty."


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def attributes(self, start: str | tuple[str, ...]) -> list[str]:
        names = [name for _, attrs in self.tags for name, _ in attrs]
        return [name for name in names if name.startswith(start)]

    def handle_data(self, data: str) -> None:
        self.text += data


def fill_fields(template: HITTemplate, text: str) -> dict[str, Any]:
    data = copy.deepcopy(dict(template.example))
    for name in {"prediction", "reference", "standard"} & set(data):
        data[name] = text
    for part in data.get("fields", []) + data.get("outputs", []):
        part["text"] = text
    return data


def judged_outputs(example: Any) -> list[str]:
    outputs = [output["text"] for output in example.get("outputs", [])]
    return outputs or [example["prediction"]]


def faults(template: HITTemplate) -> Iterator[str]:
    """Yield the reasons why a template cannot be used, a clause each."""
    for clause, holds in CHECKS.items():
        if not holds(template):
            yield clause


def _says_what_it_asks(template: HITTemplate) -> bool:
    words = (template.title, template.description, template.keywords)
    in_time = _SECONDS[0] <= template.seconds <= _SECONDS[1]
    return all((*words, template.questions, in_time)) and template.scale in all_scales()


def _shows_what_is_judged(template: HITTemplate) -> bool:
    template.check(template.example)
    page = Elements(template.render(template.example))
    return all(text in page.text for text in judged_outputs(template.example))


def _has_worked_examples(template: HITTemplate, language: str = "") -> bool:
    text = template.instructions
    scale = all_scales().get(template.scale)
    options = scale.in_language(language).options if scale else ()
    ends = {options[0].label, options[-1].label} if options else set()
    return "<h1>" in text and "<table>" in text and all(end in text for end in ends)


def _says_the_same_in_each_language(template: HITTemplate) -> bool:
    plain = Elements(template.render(template.example))
    empty = fill_fields(template, "")
    for language, words in template.words.items():
        said = template.in_words(language)
        same = Elements(said.render(said.example)).tags == plain.tags
        rows = [one.instructions.count("<tr>") for one in (said, template)]
        if not same or rows[0] != rows[1] or not _has_worked_examples(said, language):
            return False
        of_empty = {text for key, text in words.shown.items() if key.endswith(_EMPTY)}
        shown = said.render(empty)
        if sum(shown.count(text) for text in of_empty) < len(judged_outputs(empty)):
            return False
    return True


def _never_obeys(template: HITTemplate) -> bool:
    plain = Elements(template.render(template.example))
    for text in HOSTILE:
        page = Elements(template.render(fill_fields(template, text)))
        if page.tags != plain.tags or text not in page.text:
            return False
    return True


def _keeps_labels_in_their_place(template: HITTemplate) -> bool:
    data = fill_fields(template, "text")
    for field in data.get("fields", []):
        field["label"] = "<b>label</b>"
        field["lang"] = 'en" onclick="alert(1)'
    data["lang"] = "en' onclick='alert(1)"
    page = Elements(template.render(data))
    return "b" not in dict(page.tags) and not page.attributes("on")


def _shows_only_its_fields(template: HITTemplate) -> bool:
    data = {**template.example, "system": "Watermelon", "is_test": True}
    return template.render(data) == template.render(template.example)


def _reaches_nothing(template: HITTemplate) -> bool:
    page = Elements(template.render(template.example))
    reaching = page.attributes(FORBIDDEN_ATTRIBUTES)
    return not FORBIDDEN_TAGS & {*dict(page.tags)} and not reaching


def _says_that_an_output_is_empty(template: HITTemplate) -> bool:
    for empty in ("", "   ", "\n"):
        data = fill_fields(template, empty)
        if template.render(data).count(_EMPTY) < len(judged_outputs(data)):
            return False
    return True


CHECKS: dict[str, Callable[[HITTemplate], bool]] = {
    "title, description, keywords and questions must say something, seconds lie between "
    f"{_SECONDS[0]} and {_SECONDS[1]}, and the scale be one of this site": _says_what_it_asks,
    "example.json must have what is judged, and the page show it": _shows_what_is_judged,
    "instructions.md must begin with a heading and have a table of worked examples, with "
    "the best and the worst answer": _has_worked_examples,
    "texts must be shown and never obeyed": _never_obeys,
    "labels and languages must stay in their place": _keeps_labels_in_their_place,
    "the page may show the fields only that template.toml names": _shows_only_its_fields,
    "the page may reach neither the network nor scripts": _reaches_nothing,
    'the page must say when an output is empty (include "text.html" with what="...")': (
        _says_that_an_output_is_empty
    ),
    "in each language instructions must have the same worked examples, with the best and "
    "the worst answer as the scale has them in it, and the page be the same": (
        _says_the_same_in_each_language
    ),
}
