"""HIT templates that strangers send: a small part of two languages, and nothing else."""

import pytest

from crowd import hit_templates
from crowd.hit_templates.foreign import read
from crowd.hit_templates.template import FILES
from genie.lib.errors import GenieError
from tests.crowd.making import refused

HOME = hit_templates.ROOT / "question-answering"
OURS = {name: (HOME / name).read_bytes() for name in FILES}
PAGE = OURS["template.html"].decode()


def changed(**files: str) -> dict[str, bytes]:
    named = {name.replace("_", "."): text.encode() for name, text in files.items()}
    return {**OURS, **named}


@pytest.mark.parametrize(
    "slug",
    [path.parent.name for path in sorted(hit_templates.ROOT.glob("*/template.html"))],
)
def test_all_of_ours_could_be_sent(slug):
    home = hit_templates.ROOT / slug
    template = read(slug, {name: (home / name).read_bytes() for name in FILES})
    assert template.render(template.example) == hit_templates.get(slug).render(
        template.example
    )


def test_plain_tags_and_values_are_possible():
    page = """{# ours #}<section class="given long" lang="{{ fields.0.lang }}" dir="auto">
    {% if input_shown %}{% for field in fields %}<h2>{{ field.label }} {{ forloop.counter }}</h2>
    {% include "text.html" with text=field.text html=field.html only %}{% endfor %}{% endif %}
    </section><hr/>5 > 4 & {{ fields|length }}{% include "output.html" with heading="A" what="It" %}"""
    assert read("mine", changed(template_html=page)).render({"fields": []})


HTML = [
    "<script>alert(1)</script>",
    "<SCRIPT>alert(1)</SCRIPT>",
    "<img src=x onerror=alert(1)>",
    '<p style="position:fixed">x</p>',
    '<p onclick="x">x</p>',
    "<p class=x>x</p>",
    '<p class="a"onclick="x">x</p>',
    '<p class="{{ prediction }}">x</p>',
    '<p lang="{{ fields.0.html.html }}">x</p>',
    '{% with lang=fields.0.html.html %}<p lang="{{ lang }}">x</p>{% endwith %}',
    '<p lang="{% if lang %}en{% endif %}">x</p>',
    '<p{% if 0 %} class="{% endif %}><script>{% if 0 %}">{% endif %}</p>',
    "<scr{# x #}ipt>alert(1)</scr{# x #}ipt>",
    "<{{ prediction }}>",
    '<a href="https://example.org">x</a>',
    '<form action="/account/logout/"></form>',
    "</form>",
    "</div></main>",
    "</section>",
    "<div>",
    "<!-- x -->",
    "<svg/onload=alert(1)>",
    "<base href=//x>",
    "<\nscript>",
    "<iframe srcdoc='x'></iframe>",
    "<meta http-equiv=refresh>",
    "<p\x00>x</p>",
]
LANGUAGE = [
    "{{ prediction|safe }}",
    "{% autoescape off %}{{ prediction }}{% endautoescape %}",
    "{% filter safe %}x{% endfilter %}",
    "{% debug %}",
    "{% load static %}",
    '{% extends "base.html" %}',
    '{% include "../consent.html" %}',
    "{% include prediction %}",
    "{% csrf_token %}",
    '{% url "admin:index" %}',
    '{{ "x"|ljust:1000000000 }}',
    '{{ prediction|center:"999999999" }}',
    "{{ fields.clear }}",
    "{{ prediction.__class__ }}",
    '{% for a in "aaaaaaaaaa" %}{% for b in "aaaaaaaaaa" %}{% endfor %}{% endfor %}',
    "{% for a in prediction %}x{% endfor %}",
    "{% for a in fields %}{% for b in fields %}x{% endfor %}{% endfor %}",
    "{% verbatim %}{% endverbatim %}",
    "{% comment %}{% endcomment %}",
    "{% if " + "and " * 40 + "! %}{% endif %}",
    "{% endif %}",
    "{% now 'Y' %}",
    "{% lorem 100000 w %}",
    "{{ settings.SECRET_KEY.encode }}",
]


@pytest.mark.parametrize("hostile", HTML + LANGUAGE)
def test_nothing_else_is(hostile):
    refused("unusable-template", read, "mine", changed(template_html=PAGE + hostile))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"template_html": "<p>Nothing</p>"}, "must have what is judged"),
        ({"template_html": "x" * 60_000}, "more than 50,000 characters"),
        ({"template_toml": "title = "}, "cannot be read"),
        ({"template_toml": "title = 'x'"}, "cannot be read"),
        ({"example_json": "[]"}, "bundle cannot be used"),
        ({"example_json": "[" * 100_000}, "bundle cannot be used"),
        ({"example_json": '{"fields": {}, "prediction": 3}'}, "bundle cannot be used"),
        ({"instructions_md": "Do it."}, "worked examples"),
        ({"consent_md": "x"}, "no file of a template"),
        ({"template_html": "{{ prediction }}{% include 'output.html' %}"}, "possible"),
        ({"template_html": '{% include "output.html" %}'}, "is empty"),
        ({"template_html": '{% include "nowhere.html" %}'}, "bundle cannot be used"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(files, words):
    with pytest.raises(GenieError, match=words) as turned_down:
        read("mine", changed(**files))
    assert turned_down.value.code == "unusable-template"
    assert turned_down.value.message.count("\n") == 0


def test_html_made_of_a_text_becomes_no_attribute_of_a_part():
    page = '{% include "text.html" with text="x" lang=fields.0.html.html only %}'
    template = read("mine", changed(template_html=PAGE + page))
    text = "```x/onclick=alert(1)\n```"
    item = {"label": "Question", "text": text, "format": "markdown"}
    shown = template.render({**template.example, "fields": [item]})
    assert 'lang="&lt;pre&gt;&lt;code class=&quot;language-x/onclick' in shown


def test_a_file_that_is_missing_or_no_text_is_named():
    with pytest.raises(GenieError, match=r"instructions\.md must be there"):
        read("mine", {k: v for k, v in OURS.items() if k != "instructions.md"})
    with pytest.raises(GenieError, match="UTF-8"):
        read("mine", {**OURS, "template.html": b"\xff"})
    with pytest.raises(GenieError, match="its name must be"):
        read("../x", OURS)
