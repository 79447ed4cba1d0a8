"""What the studio says before anything is loaded: test questions, and the price of pairs."""

import re

import pytest

from leaderboard.models import Draft, Instance, Submission, Task
from tests.leaderboard.studio.test_new import WIDE, csv_of
from tests.leaderboard.studio.test_pages import _loaded, asked, at, begin, text

REFERENCED = {
    "question": [f"<b>Now:</b> {question}" for question in WIDE["question"]],
    "reference": [f"The {n} follows it, as everybody knows." for n in range(10)],
    "ada": [f"The {n} follows it, as most people know." for n in range(10)],
    "bob": [f"After it there is number {n}, which is well known." for n in range(10)],
}


def drafted(mia, people, files=REFERENCED, **questions):
    begin(mia, {"a.csv": csv_of(files)})
    draft = Draft.objects.get()
    mia.post(at(draft, "ask"), asked(**questions))
    mia.post(at(draft, "people"), {"who": "invited", "ratings": "1", **people})
    return draft


@pytest.mark.parametrize("question", ["The answer is correct.", "Which is better?"])
def test_hidden_test_questions_are_shown_with_what_counts_as_right(mia, question):
    draft = drafted(mia, {"tests_percent": "20", "n_items": "8"}, question_1=question)
    page = text(mia.get(at(draft, "tests")))
    pairs = question.startswith("Which")
    assert "of 4 test questions" in page if not pairs else "test questions on" in page
    right = r"[AB] is better" if pairs else r"[Aa]gree"
    assert re.search(rf"<p>overall: [^<]*{right}", page)
    assert "&lt;b&gt;Now:&lt;/b&gt;" in page
    assert "for a different system" in page.lower()
    assert mia.get(at(draft, "tests"), {"system": "1"}).status_code == 200
    for model in (Task, Instance, Submission):
        assert not model.own.exists()


def test_each_criterion_of_a_test_question_is_named_once(mia):
    two = {
        "question_1": "It is true.",
        "name_2": "flow",
        "question_2": "It reads well.",
    }
    draft = drafted(mia, {"tests_percent": "20", "n_items": "8"}, **two)
    page = text(mia.get(at(draft, "tests")))
    assert re.search(r"<p>overall: (Strongly a|A|Neutral)", page)
    assert "overall: overall" not in page


def test_why_there_are_no_test_questions_is_said(mia):
    draft = drafted(mia, {}, files={k: REFERENCED[k] for k in ("question", "ada")})
    assert "This task uses no test questions" in text(mia.get(at(draft, "tests")))
    mia.post(
        at(draft, "people"), {"who": "invited", "ratings": "1", "tests_percent": "9"}
    )
    assert "the files have none" in text(mia.get(at(draft, "tests")))


@pytest.mark.parametrize("ratings", ["1", "2", "3"])
def test_the_price_of_pairs_said_before_is_the_one_that_is_approved(mia, ratings):
    draft = _loaded(
        mia,
        {"a.csv": csv_of(REFERENCED)},
        "Which is better?",
        who="invited",
        reward="0.10",
        ratings=ratings,
    )
    page = text(mia.get(at(draft, "people")))
    shown = re.search(r"with fees and test questions</dt><dd>([^<]+)", page)[1]
    mia.post(at(draft, "start"), {"price": ""})
    assert f"I approve up to {shown}" in text(mia.get(at(draft, "start")))


def test_pairs_are_not_judged_by_an_even_number_of_people(mia):
    draft = drafted(mia, {"ratings": "4"}, question_1="Which is better?")
    assert "may have no majority" in text(mia.get(at(draft, "people")))
