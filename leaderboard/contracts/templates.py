"""What holds for every HIT template."""

from __future__ import annotations

import copy
from html.parser import HTMLParser
from typing import Any

import pytest

from crowd.hit_templates import HITTemplate
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
# What a page must not have: each HIT is answered without the network and without scripts.
FORBIDDEN_TAGS = {"script", "style", "link", "iframe", "img", "object", "embed", "a"}
FORBIDDEN_ATTRIBUTES = ("on", "src", "href", "style")


class Elements(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def filled(template: HITTemplate, text: str) -> dict[str, Any]:
    """Put the text into every field of the template's example."""
    data = copy.deepcopy(dict(template.example))
    for name in {"prediction", "reference", "standard"} & set(data):
        data[name] = text
    for part in data["fields"] + data.get("outputs", []):
        part["text"] = text
    return data


def judged(example: Any) -> list[str]:
    """Give the texts that are judged."""
    outputs = [output["text"] for output in example.get("outputs", [])]
    return outputs or [example["prediction"]]


class TemplateContract:
    def test_it_says_what_it_asks_on_a_known_scale(self, template: HITTemplate) -> None:
        assert template.questions
        assert template.scale in all_scales()
        assert 5 <= template.seconds <= 600
        assert template.title
        assert template.description
        assert template.keywords

    def test_the_example_is_usable_and_shows_what_is_judged(
        self, template: HITTemplate
    ) -> None:
        template.check(template.example)
        page = Elements(template.render(template.example))
        assert all(text in page.text for text in judged(template.example))

    def test_instructions_have_worked_examples_good_and_bad(
        self, template: HITTemplate
    ) -> None:
        text = template.instructions
        assert "<h1>" in text
        assert "<table>" in text
        options = all_scales()[template.scale].options
        for best_or_worst in {options[0], options[-1]} if options else ():
            assert best_or_worst.label in text

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_texts_are_shown_and_never_obeyed(
        self, template: HITTemplate, text: str
    ) -> None:
        plain = Elements(template.render(template.example))
        page = Elements(template.render(filled(template, text)))
        assert page.tags == plain.tags
        assert page.attributes == plain.attributes
        assert text in page.text

    def test_hostile_labels_and_languages_stay_in_their_place(
        self, template: HITTemplate
    ) -> None:
        data = filled(template, "text")
        for field in data["fields"]:
            field["label"] = "<b>label</b>"
            field["lang"] = 'en" onclick="alert(1)'
        data["lang"] = "en' onclick='alert(1)"
        page = Elements(template.render(data))
        assert "b" not in page.tags
        assert not [name for _, name, _ in page.attributes if name.startswith("on")]

    def test_it_shows_only_the_fields_that_it_names(
        self, template: HITTemplate
    ) -> None:
        data = {**template.example, "system": "Watermelon", "is_test": True}
        assert template.render(data) == template.render(template.example)

    def test_its_page_reaches_neither_the_network_nor_scripts(
        self, template: HITTemplate
    ) -> None:
        page = Elements(template.render(template.example))
        assert not FORBIDDEN_TAGS & set(page.tags)
        names = [name for _, name, _ in page.attributes]
        assert not [name for name in names if name.startswith(FORBIDDEN_ATTRIBUTES)]

    @pytest.mark.parametrize("empty", ["", "   ", "\n"])
    def test_an_empty_prediction_is_said_to_be_empty(
        self, template: HITTemplate, empty: str
    ) -> None:
        data = filled(template, empty)
        assert template.render(data).count("is empty.") >= len(judged(data))
