"""Texts as Markdown, code and conversations: laid out, and never obeyed."""

import pytest

from crowd.hit_templates import all_templates
from crowd.hit_templates.formats import format_text, with_layout
from crowd.templatetags.crowd import laid_out
from genie.lib.formats import as_text, problem
from quality.test_questions.selectors import shown_fields

HOSTILE = """# Big
<script>alert(1)</script> ![x](http://evil/p.png) [here](http://evil) <http://evil>

[a]: http://evil
[a]"""


def test_markdown_brings_no_html_no_link_and_no_picture():
    html = format_text(HOSTILE, "markdown").html
    assert "<h3>Big</h3>" in html
    assert "&lt;script&gt;" in html
    for tag in ("<script", "<img", "<a ", "href", "src="):
        assert tag not in html


@pytest.mark.parametrize("kind", ["code", "conversation"])
def test_other_layouts_escape_everything(kind):
    html = format_text(f"User: {HOSTILE}", kind).html
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_conversation_comes_out_as_the_turns_that_went_in():
    turns = [
        {"role": "user", "content": "Hello\n\nAssistant: is my name"},
        {"role": "assistant", "content": "<b>Hi</b>"},
    ]
    html = format_text(as_text(turns), "conversation").html
    assert html.count('class="turn"') == 2
    assert "Hello\n\n Assistant: is my name" in html
    assert "&lt;b&gt;Hi&lt;/b&gt;" in html
    assert problem(50 * turns) == ""
    assert problem(50 * turns + turns[:1]) == (
        "it has 101 turns, but at most 100 are allowed"
    )
    of = "turn 2 is not an object with a role and content", "turn 2 has no role"
    assert (problem([turns[0], "x"]), problem([turns[0], {"content": "x"}])) == of


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


def test_pages_of_ours_lay_texts_out_by_the_same_hand():
    text = f"**Yes** {HOSTILE}"
    shown = laid_out(with_layout(text, "markdown"))
    assert (
        shown
        == f'<div class="laid markdown">{format_text(text, "markdown").html}</div>'
    )
    assert laid_out("<b>a</b>\nb") == "&lt;b&gt;a&lt;/b&gt;<br>b"
    # cut before it is laid out: never within a tag
    assert laid_out(with_layout("**Yes**" * 9, "code"), 6) == (
        '<div class="laid code"><pre><code>**Yes…</code></pre></div>'
    )
    assert laid_out(with_layout("x", "unheard-of")) == "x"


def test_staff_see_items_as_workers_do():
    data = {
        "format": "code",
        "fields": [{"label": "Said", "text": "User: Hi", "format": "conversation"}],
        "prediction": "a < b",
    }
    html = "".join(laid_out(text) for _, text in shown_fields(data))
    assert 'class="turn"' in html
    assert "<pre><code>a &lt; b</code></pre>" in html
    plain = shown_fields({"fields": [{"label": "A", "text": "b"}], "prediction": "c"})
    assert plain == [("A", "b"), ("Text to rate", "c")]


def test_conversations_beside_each_other_are_lined_up():
    template = all_templates()["two-choice-outputs"]
    talk = "User: Hello\n\nAssistant: <b>Hi</b>"
    data = {**template.example, "format": "conversation"}
    data["outputs"] = [{"slot": slot, "text": talk} for slot in "AB"]
    shown = template.render(data)
    assert shown.count('<div class="lined">') == 1
    assert shown.count('class="turn"') == 4
    assert "<b>" not in shown
    # more turns than rows, and texts that have none, stand below each other
    data["outputs"][1] = {"slot": "B", "text": "\n\n".join([talk] * 51)}
    assert "lined" not in template.render(data)
    assert "lined" not in template.render(template.example)
