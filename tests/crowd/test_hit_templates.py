from __future__ import annotations

import copy
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd import hit_templates
from crowd.hit_templates.markdown import to_html
from crowd.hit_templates.template import read_template
from crowd.scales.base import all_scales
from genie.lib.errors import GenieError

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = hit_templates.all_templates()
every_template = pytest.mark.parametrize("slug", TEMPLATES)
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


class Elements(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.text += data


def filled(slug, text):
    """Put the text into every field of the template's example."""
    data = copy.deepcopy(dict(TEMPLATES[slug].example))
    for name in {"prediction", "reference", "standard"} & set(data):
        data[name] = text
    for part in data["fields"] + data.get("outputs", []):
        part["text"] = text
    return data


def judged(example):
    """Give the texts that are judged."""
    outputs = [output["text"] for output in example.get("outputs", [])]
    return outputs or [example["prediction"]]


def test_the_four_tasks_of_the_paper_have_their_templates():
    assert {
        "abductive-commonsense",
        "question-answering",
        "summarization",
        "translation",
    } <= set(TEMPLATES)


@every_template
def test_a_template_says_what_it_asks_on_a_known_scale(slug):
    template = TEMPLATES[slug]
    assert template.questions
    assert template.scale in all_scales()
    assert 5 <= template.seconds <= 600
    assert template.title
    assert template.description
    assert template.keywords


@every_template
def test_the_example_is_usable_and_shows_its_texts(slug):
    template = TEMPLATES[slug]
    template.check(template.example)
    page = Elements(template.render(template.example))
    assert all(text in page.text for text in judged(template.example))
    shown = [part["text"] for part in template.example["fields"]]
    with_reference = slug in {"translation", "slider-translation"}
    assert all(text in page.text for text in shown) or with_reference


@every_template
def test_instructions_have_worked_examples_good_and_bad(slug):
    text = TEMPLATES[slug].instructions
    assert "<h1>" in text
    assert "<table>" in text
    options = all_scales()[TEMPLATES[slug].scale].options
    for best_or_worst in {options[0], options[-1]} if options else ():
        assert best_or_worst.label in text


@every_template
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_shown_and_never_obeyed(slug, text):
    template = TEMPLATES[slug]
    plain = Elements(template.render(template.example))
    page = Elements(template.render(filled(slug, text)))
    assert page.tags == plain.tags
    assert page.attributes == plain.attributes
    assert text in page.text


@every_template
@given(text=st.text(max_size=60))
@settings(max_examples=30, deadline=None)
def test_no_text_at_all_changes_the_pages_structure(slug, text):
    template = TEMPLATES[slug]
    plain = Elements(template.render(template.example))
    page = Elements(template.render(filled(slug, f"x{text}")))
    assert page.tags == plain.tags
    assert page.attributes == plain.attributes


@every_template
def test_hostile_labels_and_languages_stay_in_their_place(slug):
    template = TEMPLATES[slug]
    data = filled(slug, "text")
    for field in data["fields"]:
        field["label"] = "<b>label</b>"
        field["lang"] = 'en" onclick="alert(1)'
    data["lang"] = "en' onclick='alert(1)"
    page = Elements(template.render(data))
    assert "b" not in page.tags
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


@every_template
def test_a_template_shows_only_the_fields_that_it_names(slug):
    template = TEMPLATES[slug]
    data = {**template.example, "system": "Watermelon", "is_test": True}
    assert template.render(data) == template.render(template.example)


@every_template
def test_a_template_reaches_neither_the_network_nor_scripts(slug):
    for path in [
        hit_templates.ROOT / slug / "template.html",
        *(hit_templates.ROOT / "parts").iterdir(),
    ]:
        forbidden = r"script|style=|src=|href=|http|\bsafe\b|autoescape"
        assert not re.search(forbidden, path.read_text("utf-8"))


@every_template
@pytest.mark.parametrize("empty", ["", "   ", "\n"])
def test_an_empty_prediction_is_said_to_be_empty(slug, empty):
    template = TEMPLATES[slug]
    data = filled(slug, empty)
    page = template.render(data)
    assert page.count("is empty.") >= len(judged(data))


@every_template
def test_texts_keep_their_language_and_find_their_own_direction(slug):
    data = filled(slug, "نص")
    data["lang"] = "ar"
    attributes = Elements(TEMPLATES[slug].render(data)).attributes
    assert ("div", "lang", "ar") in attributes
    texts = [value for _, name, value in attributes if name == "class"].count("text")
    assert [value for _, name, value in attributes if name == "dir"] == ["auto"] * texts


def test_the_translation_is_compared_with_the_reference_and_not_with_the_original():
    template = TEMPLATES["translation"]
    page = Elements(template.render(template.example)).text
    assert template.example["reference"] in page
    assert template.example["fields"][0]["text"] not in page
    without = {k: v for k, v in template.example.items() if k != "reference"}
    template.check(without)
    assert template.example["fields"][0]["text"] in template.render(without)


def test_the_middle_stands_between_beginning_and_ending():
    template = TEMPLATES["abductive-commonsense"]
    page = Elements(template.render(template.example)).text
    beginning, ending = (part["text"] for part in template.example["fields"])
    places = [
        page.index(t) for t in (beginning, template.example["prediction"], ending)
    ]
    assert places == sorted(places)


def test_an_unknown_template_is_refused_with_the_known_ones():
    with pytest.raises(GenieError, match="translation"):
        hit_templates.get("nowhere")


@pytest.mark.parametrize("name", ["../../etc", "..", "", "translation/"])
def test_a_slug_is_never_a_path(name):
    with pytest.raises(GenieError):
        hit_templates.get(name)


def test_html_in_markdown_is_shown_and_not_obeyed():
    html = to_html("# Hi\n\n<script>alert(1)</script> [x](javascript:alert(1))")
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert 'href="javascript' not in html


def write(folder, **files):
    source = hit_templates.ROOT / "question-answering"
    for name in ("template.html", "template.toml", "example.json", "instructions.md"):
        (folder / name).write_text(files.get(name.replace(".", "_")) or (source / name).read_text("utf-8"))  # fmt: skip
    return folder


@pytest.mark.parametrize(
    "files",
    [
        {"template_toml": 'title = "no more"'},
        {"template_toml": "= broken"},
        {"example_json": "{"},
        {"template_html": "{% load static %}"},
        {"template_html": "{% if %}"},
        {"template_html": "{% include 'base.html' %}"},
        {"template_html": "{% extends 'base.html' %}"},
        {"template_html": "{% include '../consent.md' %}"},
        {"example_json": '{"fields": [], "prediction": "x"}'},
        {
            "template_toml": 'title="t"\ndescription="d"\nkeywords="k"\nseconds=9\n'
            'scale="binary"\n[fields.prediction]\ntype="video"\n[questions]\nq="q"'
        },
    ],
)
def test_a_broken_template_is_refused_by_name(tmp_path, files):
    with pytest.raises(GenieError, match=tmp_path.name):
        read_template(write(tmp_path, **files))


def test_the_manual_shows_a_template_as_it_is():
    manual = (ROOT / "docs/hit-templates.md").read_text("utf-8")
    shown = manual.partition("```html\n")[2].partition("```")[0]
    path = hit_templates.ROOT / "question-answering/template.html"
    assert shown == path.read_text("utf-8")
