"""What is approved is what is paid: price and campaign are made of one configuration."""

from itertools import count

import pytest

from crowd.models import Campaign, Commitment, LedgerEntry, Worker
from genie.lib import jobs
from leaderboard import demo
from leaderboard.designs.base import content_key
from leaderboard.evaluation import decide
from leaderboard.evaluation.run import advance
from leaderboard.evaluation.services import comparison, joint
from leaderboard.evaluation.services.simulate import DILIGENT, Crowd
from leaderboard.models import Submission
from quality.models import TestQuestion
from tests.factories import (
    make_predictions,
    make_submission,
    make_task,
    make_team,
    make_user,
)

N_INSTANCES = 20
CRITERIA = {"right": "Is it right?", "clear": "Is it clear?"}
MARKED = {"positive": list(CRITERIA), "negative": list(CRITERIA)}
_number = count(1)

WAY = {
    "sample_size": 2,
    "ratings_per_instance": 2,
    "reward_cents": 7,
    "expected_seconds": 1,
    "positive_share": 0.3,
    "negative_share": 0.05,
    "repost_share": 0.5,
    "exposure": "campaign",
}
PLAIN = {
    **WAY,
    **dict.fromkeys(["sample_size", "ratings_per_instance"], 1),
    **dict.fromkeys(["positive_share", "negative_share", "repost_share"], 0.0),
    "exposure": "task",
}


@pytest.fixture
def staff(db):
    return make_user("boss", is_staff=True, is_superuser=True)


def task_that_asks(kind, way, how, others):
    """Make a task that asks so; what a table leaves out it takes over from [human]."""
    human = {
        "design": "direct-assessment",
        "scale": "likert-5",
        "hit_template": "summarization",
        "criteria": CRITERIA,
        "test_criteria": MARKED,
        **way,
        **(how if kind == "submission" else {}),
    }
    return make_task(
        f"priced-{next(_number)}",
        n_instances=N_INSTANCES,
        config={"human": human, "comparison": others, "joint": others},
    )


def two_systems(task, owner):
    team = make_team("Sky", owner)
    found = []
    for name in ("Kite", "Gull"):
        made = make_submission(
            task, team=team, owner=owner, system=name, simulated=True
        )
        make_predictions(made, name + " says {0}.")
        found.append(made)
    return found


def approved(kind, systems, task, by):
    if kind == "submission":
        asked = systems[0].human_evaluation
    elif kind == "comparison":
        [criterion] = comparison.criteria_of(task)
        question = comparison.Question(criterion, wave_size=2, max_pairs=4)
        asked = comparison.request(*systems, question, by=by)
    else:
        n_workers = task.human.ratings_per_instance
        asked = joint.request(systems, by=by, n_workers=n_workers)
    price = decide.quote(asked)
    decide.approve(asked, by=by, start_now=True)
    return price


def worked_off(task):
    references = {
        content_key(task.slug, row.instance_id): set(row.references)
        for row in task.instances.all()
    }

    def of_text(item, text):
        return 0.95 if text in references[item.content_key] else 0.1

    players = [p for p in demo.players([task.slug]) if p.habit == DILIGENT]
    # Who never comes must not be waited for.
    Worker.own.exclude(pk__in=[p.worker.pk for p in players]).delete()
    crowd = Crowd(
        players,
        quality=lambda item: of_text(item, item.data["prediction"]),
        of_text=of_text,
        seed=1,
    )
    idle = 0
    # What only people who met the input as a test question could do is opened to them
    # once nobody else comes: an idle round may be followed by a busy one.
    while idle < 3:
        advance()
        jobs.drain()
        idle = 0 if crowd.work() else idle + 1


@pytest.mark.parametrize(
    ("kind", "way", "how", "others"),
    [
        ("submission", WAY, {"setup": 2, "before_text": ["clear"]}, {}),
        ("comparison", WAY, {}, {"reward_cents": 11, "positive_share": 0.5}),
        ("joint", WAY, {}, {"reward_cents": 11, "expected_seconds": 1}),
        ("joint", PLAIN, {}, {}),
    ],
)
def test_the_ledger_has_the_price_without_repeated_work(staff, kind, way, how, others):
    task = task_that_asks(kind, way, how, others)
    price = approved(kind, two_systems(task, staff), task, staff)
    set_aside = Commitment.own.filter(pool=task.slug)
    assert sum(set_aside.values_list("amount_cents", flat=True)) == price.total_cents
    worked_off(task)
    campaigns = Campaign.objects.filter(pool=task.slug)
    assert {campaign.state for campaign in campaigns} == {Campaign.State.COMPLETE}
    ledger = LedgerEntry.objects.filter(campaign__pool=task.slug)
    paid = sum(ledger.values_list("amount_cents", flat=True))
    tests = TestQuestion.own.filter(campaign__pool=task.slug).values("item__hit")
    tested = ledger.filter(assignment__hit__in=tests)
    for_tests = sum(tested.values_list("amount_cents", flat=True))
    # Where few people work, questions are left over when everything is rated.
    assert for_tests <= price.test_question_cents
    without_tests = price.total_cents - price.repost_cents - price.test_question_cents
    assert paid - for_tests == without_tests
    # what was not needed is free again
    assert sum(set_aside.values_list("amount_cents", flat=True)) == paid
    assert not Submission.objects.filter(task=task).exclude(failure="").exists()
