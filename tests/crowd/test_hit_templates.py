import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd import hit_templates
from crowd.hit_templates.checks import Elements, fill_fields
from crowd.hit_templates.formats import to_html
from crowd.hit_templates.template import read_template
from genie.lib.errors import GenieError
from leaderboard.contracts.outside_pieces import TemplateContract

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = hit_templates.all_templates()
every_template = pytest.mark.parametrize("slug", TEMPLATES)


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
class TestOurs(TemplateContract):
    pass


@every_template
def test_the_example_shows_its_inputs(slug):
    template = TEMPLATES[slug]
    page = Elements(template.render(template.example))
    shown = [part["text"] for part in template.example["fields"]]
    with_reference = slug in {"translation", "slider-translation", "sqm-translation"}
    assert all(text in page.text for text in shown) or with_reference


@every_template
@given(text=st.text(max_size=60))
@settings(max_examples=12, deadline=None)
def test_no_text_at_all_changes_the_pages_structure(slug, text):
    template = TEMPLATES[slug]
    plain = Elements(template.render(template.example))
    page = Elements(template.render(fill_fields(TEMPLATES[slug], f"x{text}")))
    assert page.tags == plain.tags


@every_template
def test_a_template_reaches_neither_the_network_nor_scripts(slug):
    for path in [
        hit_templates.ROOT / slug / "template.html",
        *(hit_templates.ROOT / "parts").iterdir(),
    ]:
        forbidden = r"script|style=|src=|href=|http|\bsafe\b|autoescape"
        assert not re.search(forbidden, path.read_text("utf-8"))


@every_template
def test_texts_keep_their_language_and_find_their_own_direction(slug):
    data = fill_fields(TEMPLATES[slug], "نص")
    data["lang"] = "ar"
    tags = Elements(TEMPLATES[slug].render(data)).tags
    attributes = [(tag, *one) for tag, its in tags for one in its]
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


def test_an_unknown_template_is_refused_with_the_known_ones_and_never_a_path():
    for name in ("nowhere", "../../etc", "..", "", "translation/"):
        with pytest.raises(GenieError, match="translation"):
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
