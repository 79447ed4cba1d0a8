"""Texts as Markdown, code and conversations: laid out, and never obeyed."""

from __future__ import annotations

import pytest

from crowd.hit_templates import all_templates
from crowd.hit_templates.formats import formatted
from leaderboard.tasks.intake.turns import as_text

HOSTILE = """# Big
<script>alert(1)</script> ![x](http://evil/p.png) [here](http://evil) <http://evil>

[a]: http://evil
[a]"""


def test_markdown_brings_no_html_no_link_and_no_picture():
    html = formatted(HOSTILE, "markdown").html
    assert "<h3>Big</h3>" in html
    assert "&lt;script&gt;" in html
    for tag in ("<script", "<img", "<a ", "href", "src="):
        assert tag not in html


@pytest.mark.parametrize("kind", ["code", "conversation"])
def test_other_layouts_escape_everything(kind):
    html = formatted(f"User: {HOSTILE}", kind).html
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_conversation_comes_out_as_the_turns_that_went_in():
    turns = [
        {"role": "user", "content": "Hello\n\nAssistant: is my name"},
        {"role": "assistant", "content": "<b>Hi</b>"},
    ]
    html = formatted(as_text(turns), "conversation").html
    assert html.count('class="turn"') == 2
    assert "Hello\n\n Assistant: is my name" in html
    assert "&lt;b&gt;Hi&lt;/b&gt;" in html


@pytest.mark.parametrize("slug", sorted(all_templates()))
def test_every_template_shows_every_layout(slug):
    template = all_templates()[slug]
    data = {**template.example, "format": "code"}
    data["fields"] = [{**one, "format": "markdown"} for one in data["fields"]]
    shown = template.render(data)
    assert shown.count('class="text code"') >= 1
    assert "<pre><code>" in shown
    plain = template.render(template.example)
    assert "<pre>" not in plain


def test_an_empty_text_says_so_in_every_layout():
    template = all_templates()["general-judgement"]
    shown = template.render({**template.example, "prediction": " ", "format": "code"})
    assert "The text is empty." in shown
