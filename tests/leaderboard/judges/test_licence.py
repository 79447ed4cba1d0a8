"""A judge is licensed by people's ratings of the same outputs, or told why it is not."""

import html

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.judges.selectors.licence import licence_of
from leaderboard.judges.services import define
from leaderboard.judges.services import license as licensing
from tests.factories import (
    answer,
    make_evaluation,
    make_task,
    make_user,
    make_worker,
)
from tests.leaderboard.judges.conftest import add_system, approved, worked


@pytest.fixture
def rated():
    """Give a task of two systems whose outputs four people have rated."""
    return rated_task("Kite", "Wren")


def rated_task(*names):
    task = make_task(n_instances=20)
    rng = np.random.default_rng(1)
    systems = [
        add_system(
            task, name, lambda at: f"Text {'very ' * (at % 5)}{at}.", state="PUBLISHED"
        )
        for name in names
    ]
    people = [make_worker() for _ in range(4)]
    task.worth = {}
    for system in systems:
        for judged in make_evaluation(system).judged_items.order_by("pk"):
            worth = rng.choice([0.0, 0.5, 1.0])
            task.worth[system.pk, judged.instance_id] = worth
            for person in people:
                off = 0.25 * rng.choice([-1, 0, 1])
                answer(judged.item, person, float(np.clip(worth + off, 0, 1)))
    return task


def run_of(task, worth, **wish):
    """Run a script and put other words into its mouth."""
    made = {"endpoint": "scripted", "model": "words"}
    run = worked(approved(define.make("words", "1", made, per_minute=0), task, **wish))
    for call in run.calls.all():
        call.values = {"overall": worth(call)}
        call.save()
    return run


def holds(licence):
    return {one.name: one.holds for one in licence.reasons}


@pytest.mark.every_engine
def test_people_vouch_for_a_judge_that_says_what_they_say(rated):
    run = run_of(rated, lambda call: rated.worth[call.submission_id, call.instance_id])
    found = licence_of(run, "overall")
    assert holds(found) == {
        "people": True,
        "alternative annotator test": True,
        "agreement": True,
        "within systems and instances": True,
        "bias: length": True,
        "bias: lists and markup": True,
        "bias: own family": True,
        "bias: order": True,
        # nobody looked
        "bias: injection": False,
        # two systems make no board
        "metric board": False,
    }
    assert found.state == "not licensed"


def test_noise_long_texts_and_drift_are_told(rated, client):
    good = run_of(rated, lambda call: rated.worth[call.submission_id, call.instance_id])
    likes_long = run_of(
        rated,
        lambda call: 1 - rated.worth[call.submission_id, call.instance_id],
        occasion="again",
    )
    found = licence_of(likes_long, "overall", before=good)
    assert holds(found)["agreement"] is False
    assert holds(found)["drift"] is False
    licensing.look(good.pk)
    client.force_login(make_user("boss", is_staff=True, is_superuser=True))
    page = client.get(reverse("admin:leaderboard_judgerun_change", args=[good.pk]))
    assert (
        "overall: NOT LICENSED (people: their ratings of the same outputs, of 4 people; "
        "alternative annotator test: winning rate 1.00 of 4"
        in html.unescape(page.content.decode())
    )


def test_without_people_nothing_is_licensed(judged):
    run = run_of(judged, lambda call: 0.5)
    reason, *audit = licence_of(run, "overall").reasons
    assert (reason.name, reason.holds) == ("people", False)
    assert audit[0].words == "not checked: no human ratings yet"
    assert "at least three people" in reason.words
