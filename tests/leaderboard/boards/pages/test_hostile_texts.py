"""Texts that are made to be costly cost a page at most 1 CPU second and 1 MB."""

from cProfile import Profile
from pstats import Stats

import pytest

from crowd.hit_templates.formats import MOST_SIGNS, format_text
from leaderboard.models import Instance, Prediction
from tests.each import each
from tests.factories import make_predictions, make_ranked, make_task

LONGEST = 20_000
HOSTILE = {
    "wide table": "|a" * 200 + "|\n" + "|-" * 200 + "|\n" + "x\n" * 10_000,
    "many tables": ("|a|\n|-|\n" + "x\n" * 4 + "\n") * 2_000,
    "rows of no-break spaces": "|a" * 200
    + "|\n"
    + "|-" * 200
    + "|\n"
    + "\xa0\n" * 9_000,
    "carriage returns": "|a" * 200 + "|\r" + "|-" * 200 + "|\r" + "x\r" * 9_000,
    "a table in a quote": ">" + "|a" * 99 + "|\n>" + "|-" * 99 + "|\n" + ">x\n" * 6_000,
    "emphasis": "*a* " * 5_000,
    "nested lists": "- - - - - - - - - a\n" * 1_000,
    "headings": "#\n" * 10_000,
    "quotes": "> > > > > > > > > > a\n" * 1_000,
    "links": "[a](b)" * 3_300,
    "definitions": "".join(f"[{i}]: /a\n" for i in range(2_000)),
    "html": "<b>" * 6_600,
    "marks of speech": '"' * LONGEST,
}
# of one CPU second, about a third on a slow machine
MOST_CALLS = 2_000_000


@pytest.fixture
def task(db):
    found = make_task(n_instances=25, sample_size=3)
    found.config |= {"output_format": "markdown"}
    found.save()
    return found


@pytest.fixture
def two(task, who):
    made = [make_ranked(task, 50 + i, system=f"Kite {i}", **who) for i in range(2)]
    for one in made:
        make_predictions(one, text="The {0} sat.")
    return made


@pytest.mark.slow
@each("shape", HOSTILE)
def test_a_page_of_hostile_texts_stays_small(client, two, shape):
    kite, other = two
    # the two differ, so that they are compared
    for one, first in ((kite, ""), (other, "b ")):
        Prediction.objects.filter(submission=one).update(
            text=(first + HOSTILE[shape])[:LONGEST]
        )
    address = f"/submissions/{kite.pk}/"
    profile = Profile()
    alone = profile.runcall(client.get, address)
    assert Stats(profile).total_calls < MOST_CALLS
    # marked differences have another limit
    compared = client.get(f"{address}?open=1&against={other.pk}")
    for response in (alone, compared):
        assert response.status_code == 200
        assert len(response.content) < 1_000_000


def test_a_long_text_is_whole_on_a_page_of_its_own(client, two, task):
    kite, other = two
    for one in two:
        Prediction.objects.filter(submission=one).update(text="x" * 9_999 + "END")
    page = f"/submissions/{kite.pk}/"
    html = client.get(page).content.decode()
    assert "END" not in html
    whole = "?only=3&amp;open=1#outputs"
    assert html.count(whole) == 1
    alone = client.get(f"{page}?only=3&open=1").content.decode()
    assert alone.count("END") == 1
    assert alone.count('class="instance mono"') == 1
    beside = client.get(f"{page}?against={other.pk}").content.decode()
    assert f"?only=3&amp;open=1&amp;against={other.pk}#outputs" in beside
    # a number that is none is no choice
    wrong = client.get(f"{page}?only=x").content.decode()
    assert wrong.count('class="instance mono"') == 25
    Instance.objects.filter(task=task).update(fields={})
    assert client.get(f"{page}?only=99&open=1").status_code == 200


def test_a_usual_answer_of_markdown_is_laid_out():
    part = "## Why\n\nIt *is* **so**:\n\n- one, and\n- two.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    html = format_text((part + "Words of prose. " * 30) * 10, "markdown").html
    assert html.count("<table>") == 10
    assert format_text("!" * (MOST_SIGNS + 1), "markdown") is None
