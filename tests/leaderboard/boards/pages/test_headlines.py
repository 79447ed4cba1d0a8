"""The sentence above a board says what its JSON says, on forty generated boards."""

import random
import re

import pytest

from leaderboard.boards.selectors.certainty import ranked_pks
from leaderboard.models import Submission
from leaderboard.templatetags.genie import ahead_of, plus_minus
from tests.factories import make_many_ranked, make_ranked, make_submission, make_task

pytestmark = pytest.mark.django_db
KINDS = [
    "leader",
    "ties",
    "one",
    "none",
    "provisional",
    "imported",
    "preference",
    "any",
]
NUMBERS = [
    "",
    *["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"],
]


def generate(seed, who):
    rng, kind = random.Random(seed), KINDS[seed % len(KINDS)]
    task = make_task(imported=kind == "imported")
    if kind == "preference":
        task.config["human"] |= {"design": "preference", "scale": "preference-5"}
        task.save()
    n = {"one": 1, "none": 0}.get(kind, rng.randint(2, 14))
    for i in range(n):
        ahead = kind == "leader" and i == 0
        mean = 95 if ahead else rng.uniform(20, 60)
        half = 20 if kind == "ties" else rng.uniform(1, 9)
        make_ranked(
            task,
            mean,
            half,
            system=f"System {i}",
            simulated=seed % 9 == 0,
            **who,
        )
    for i in range(rng.randint(0, 2)):
        make_submission(
            task, system=f"Waits {i}", state=Submission.State.ANNOTATING, **who
        )
    if kind == "provisional":
        for row in task.submissions.filter(published_at__isnull=False):
            row.scores.update(provisional=True)


@pytest.mark.parametrize("seed", range(40))
def test_the_sentence_agrees_with_the_json(seed, client, who):
    generate(seed, who)
    rows = client.get("/tasks/tidy-news/board.json").json()["rows"]
    page = client.get("/tasks/tidy-news/").text

    ranked = [row for row in rows if row["rank_first"]]
    first = [row["system"] for row in ranked if row["rank_first"] == 1]
    said = re.findall(r'<p class="headline">(.*?)</p>', page)
    if not rows:
        assert said == []
        assert "No systems yet." in page
        return
    (sentence,) = said
    if not ranked:
        assert sentence == "No system has a score yet."
    elif len(ranked) == 1:
        assert sentence == f"{first[0]} is the only ranked system."
    elif len(first) == 1:
        assert sentence == f"{first[0]} is first."
    else:
        n = re.fullmatch(r"(\w+) systems are tied for first\.", sentence)[1]
        assert (int(n) if n.isdigit() else NUMBERS.index(n)) == len(first)
    shaded = re.findall(r'<tr id="s-\d+" class="tied">', page)
    assert len(shaded) == len(first)


def test_a_difference_is_that_of_the_printed_numbers():
    assert (ahead_of(90.14, 89.56), ahead_of(89.56, 90.14)) == ("+0.5", "−0.5")
    assert [*map(plus_minus, (3.21, 49))] == ["± 3.2 points", "too few to say"]


@pytest.mark.parametrize("old", ["about", "evidence", "crowds", "story"])
def test_old_addresses_lead_to_the_methods(old, client, task):
    answer = client.get(f"/tasks/tidy-news/{old}/?x=1")
    assert (answer.status_code, answer.url) == (301, "/tasks/tidy-news/methods/?x=1")


def test_pairs_keep_the_two_systems_of_an_old_address(client, task):
    answer = client.get("/tasks/tidy-news/differences/?s=1&s=2")
    assert (answer.status_code, answer.url) == (301, "/tasks/tidy-news/pairs/?s=1&s=2")


def test_a_search_for_systems_finds_ranked_ones_best_first(client, task, who):
    make_many_ranked(task, 60, **who)
    Submission.objects.filter(pk=ranked_pks(task)[0]).update(published_at=None)
    page = client.get("/tasks/tidy-news/pairs/?find=system&page=5").text
    ranked = [f'<option value="{pk}"' for pk in ranked_pks(task)]
    listed = re.findall(r'<option value="\d+"', page)
    assert listed[: len(listed) // 2] == [*ranked[:20], *ranked[48:]]


def test_a_drawer_shows_the_extremes_of_a_public_system_only(client, judged):
    one = Submission.objects.get(pk=ranked_pks(judged)[0])
    page = client.get(f"/tasks/tidy-news/?open={one.pk}").text
    assert page.count('<ol class="extremes">') == 2
    assert "of the ratings would put" in page
    assert f"/submissions/{one.pk}/card/" in page
    page = client.get(f"/submissions/{one.pk}/").text
    first_screen = page[: page.index("How this was measured")]
    assert first_screen.count('<ol class="extremes">') == 2
    assert "Signature" not in first_screen
    for typed in ("0", "nine", "9" * 30):
        assert "extremes" not in client.get(f"/tasks/tidy-news/?open={typed}").text
    one.visibility = "PRIVATE"
    one.save()
    assert "extremes" not in client.get(f"/tasks/tidy-news/?open={one.pk}").text


def test_checkboxes_appear_once_compare_is_pressed(client, judged):
    page = client.get("/tasks/tidy-news/").text
    assert 'type="checkbox" name="s"' not in page
    assert 'href="?compare=1"' in page
    page = client.get("/tasks/tidy-news/?compare").text
    assert page.count('type="checkbox" name="s"') == 3
