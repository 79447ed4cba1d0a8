"""Texts of other people stay texts where code, not a template, writes markup."""

import json
import shlex
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit
from xml.etree import ElementTree

from crowd.platforms.base import Choice, FormQuestion, Identity
from crowd.platforms.mturk_protocol import xml
from crowd.platforms.panel import Panel, PanelTerms
from crowd.requester.questions import answers
from crowd.requester.questions.question_form import ROOTS, image, read_form, safe_html
from crowd.requester.questions.template import fill
from leaderboard.charts import badge
from leaderboard.models import Submission
from leaderboard.site.api.operations import operations
from leaderboard.site.docs import markdown
from leaderboard.table_stats.page import as_page
from leaderboard.table_stats.report import Mark, Sheet, interval_plot
from tests.leaderboard.site.test_hostile_texts import NASTY, Elements

QUOTED = escape(NASTY)
SHORT = '<b>"&'
ADDRESS = 'https://x.example/?a=1&b="style="'


def texts(document):
    return [text for text in ElementTree.fromstring(document).itertext() if text]


def found_in(html):
    """Return the attributes of a page of which no hostile text is an element."""
    page = Elements(html)
    assert "script" not in page.tags, html
    assert not {"onerror", "style"} & {name for name, _ in page.attributes}, html
    return page.attributes


def test_forms_for_mechanical_turk_hold_the_texts():
    question = FormQuestion(NASTY, NASTY, [Choice(NASTY, NASTY)], [NASTY])
    written = {*texts(xml.question_form(NASTY, NASTY, [question]))}
    assert written == {NASTY, "true", "radiobutton"}
    assert texts(xml.external_question(ADDRESS))[0] == ADDRESS


def test_answers_are_read_as_they_were_given():
    given = [
        answers.FormAnswer("a&b", text=NASTY),
        answers.FormAnswer("<c>", selections=("d&e",), other=NASTY),
    ]
    read = answers.texts_of(answers.form_answer_xml(given))
    assert read == {"a&b": [NASTY], "<c>": ["d&e", NASTY]}


def test_requesters_write_no_markup_but_the_allowed():
    html = safe_html(f"{QUOTED}<p>{QUOTED}</p>{QUOTED}")
    assert found_in(html) == []
    assert html.count("&lt;script&gt;") == 3
    link = safe_html(f'<a href="{escape(ADDRESS)}">{QUOTED}</a>')
    assert ("href", ADDRESS) in found_in(link)
    assert found_in(image(ADDRESS, NASTY)) == [("src", ADDRESS), ("alt", NASTY)]
    assert found_in(image("javascript:1", NASTY)) == []
    assert fill("${a}", {"a": NASTY}, markup=False) == QUOTED


def test_a_form_of_a_requester_shows_its_texts():
    def data(address, kind="video"):
        return f"<Binary><MimeType><Type>{kind}</Type></MimeType><DataURL>{address}</DataURL><AltText>{QUOTED}</AltText></Binary>"

    there, no_words = escape(ADDRESS), escape("https://x.example/?<script>&a=1")
    form = read_form(f"""<QuestionForm xmlns="{next(iter(ROOTS)).split("}")[0][1:]}">
        <Overview><Title>{QUOTED}</Title><Text>{QUOTED}</Text>
            <List><ListItem>{QUOTED}</ListItem></List>{data(there)}{data(there, "image")}
            {data("http://x.example")}{data("http://x.example", "image")}
            <Binary><DataURL>{no_words}</DataURL></Binary>
        </Overview>
        <Question><QuestionIdentifier>a</QuestionIdentifier>
            <DisplayName>{QUOTED}</DisplayName>
            <QuestionContent><Text>{QUOTED}</Text></QuestionContent>
            <AnswerSpecification><FreeTextAnswer/></AnswerSpecification></Question>
        </QuestionForm>""")
    html = form.parts[0] + form.parts[1].html
    assert [value for name, value in found_in(html) if value == ADDRESS] == [
        ADDRESS
    ] * 2
    assert html.count("&lt;script&gt;alert(1)") == 9


def test_ids_of_a_panel_stay_values_in_the_address_back():
    way = "https://x.example/?w={worker}"
    panel = Panel(PanelTerms("x", ways_out={"completed": way}))
    ids = urlencode({"worker": "a&b=c#d /"})
    url = panel.completion(Identity("w", back_to=ids), "completed").url
    assert parse_qsl(urlsplit(url).query) == [("w", "a&b=c#d /")]


def test_pictures_tables_and_badges_show_the_texts():
    label = f"Genie · {SHORT}: {SHORT}"
    assert ("aria-label", label) in found_in(badge(SHORT, SHORT))
    plot = interval_plot(NASTY, [Mark(SHORT, 1.0), Mark("B", 2.0)], NASTY)
    assert [text for text in texts(plot) if text == NASTY] == [NASTY] * 3
    assert {SHORT, f"{SHORT}: 1"} <= {*texts(plot)}
    page = as_page(NASTY, [(plot, [Sheet(NASTY, (NASTY,), ((NASTY,),), (NASTY,))])])
    assert {name for name, _ in found_in(page)} >= {"scope"}
    assert page.count("&lt;script&gt;") == 9


def test_documentation_shows_code_and_headings_as_text():
    page = f"# A\n\n```\n{NASTY}\n```\n\n## About `{SHORT}`\n"
    html = markdown.render(page, link=str).html
    assert ("aria-label", f"Link to “About {SHORT}”") in found_in(html)
    assert "&lt;script&gt;" in html


def test_examples_can_be_pasted_into_a_shell():
    operations.cache_clear()  # another test may have read them
    for words in (shlex.split(one["request"]) for one in operations()):
        if "--json" in words:
            json.loads(words[words.index("--json") + 1])


def test_details_of_a_system_are_texts():
    system = Submission(organization=NASTY, licence=NASTY, weights="open")
    html = "".join(system.facts)
    assert found_in(html) == []
    assert html.count(QUOTED) == 2
