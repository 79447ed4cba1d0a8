"""Every mark of a chart stands where its axis says that its value is."""

from itertools import product

import pandas as pd
import pytest

from crowd.scales.base import all_scales
from leaderboard.designs.base import unit_of
from leaderboard.evaluation.services.joint_results import write
from leaderboard.evaluation.services.ranking_numbers import numbers_of
from leaderboard.evaluation.services.request import create_request
from leaderboard.models import JointEvaluation
from tests.browser import WIDTHS, go
from tests.factories import make_ranked, make_task, make_worker
from tests.leaderboard.boards.pages.judged import judge

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

#: Centres of the ticks and dots of the first axis inside an element, with their values.
READ = """root => {
  const centre = e => { const b = e.getBoundingClientRect(); return b.x + b.width / 2 };
  const shown = e => e.getBoundingClientRect().width > 0;
  const ticks = [...root.querySelectorAll('svg[aria-hidden] > text')].filter(shown);
  const marks = [...root.querySelectorAll('svg[role=img]')].filter(shown);
  return {
    ticks: ticks.map(e => [parseFloat(e.textContent), centre(e)]),
    marks: marks.map(e => [
      parseFloat(e.getAttribute('aria-label')), centre(e.querySelector('.dot'))
    ]),
  };
}"""


def misplaced(page, selector):
    found = page.eval_on_selector(selector, READ)
    (low, at_low), *between, (high, at_high) = sorted(found["ticks"])
    assert found["marks"], selector

    def wanted(value):
        return at_low + (at_high - at_low) * (value - low) / (high - low)

    return [
        (value, round(place), round(wanted(value)))
        for value, place in [*between, *found["marks"]]
        if abs(place - wanted(value)) > 1.5
    ]


@pytest.fixture
def systems(task, team, submitter):
    both = {"team": team, "owner": submitter}
    return [
        make_ranked(task, mean, half, system=f"System {mean}", **both)
        for mean, half in ((48, 1), (31.7, 4), (9.2, 6))
    ]


@pytest.fixture
def joint(systems, submitter):
    pks = [system.pk for system in systems]
    ratings = pd.DataFrame(
        [
            (instance, 1, pk, 10.0 * (1 + place) + instance)
            for instance, (place, pk) in product(range(9), enumerate(pks))
        ],
        columns=["instance", "worker", "submission", "value"],
    )
    numbers = numbers_of(
        ratings, pks, unit=unit_of(all_scales()["magnitude"]), seed=1, n_resamples=200
    )
    found = create_request(
        systems,
        JointEvaluation,
        by=submitter.pk,
        design="rankme",
        n_instances=9,
        seed=1,
        state="SCORED",
        criteria=["overall"],
        n_asked=9,
    )
    numbers |= {"seed": 1, "n_excluded_workers": 0}
    numbers |= {"ratings_sha256": "", "signature": ""}
    write(found, {"criteria": {"overall": numbers}})
    return found


@pytest.mark.parametrize("width", WIDTHS)
def test_every_mark_stands_where_its_ticks_put_it(open_page, systems, joint, width):
    wrong = {}
    page = open_page("/", width=width)
    for path, root in {
        "/": ".leading",
        "/tasks/": ".card",
        "/tasks/tidy-news/": "main",
        f"/submissions/{systems[2].pk}/": ".judgement",
        f"/joint-evaluations/{joint.pk}/": ".together",
        "/how-it-works/": ".explain",
    }.items():
        go(page, path)
        wrong[path] = misplaced(page, root)
    assert not any(wrong.values()), wrong


@pytest.mark.parametrize("width", WIDTHS)
def test_weighted_scores_stand_where_ticks_put_them(open_page, team, submitter, width):
    task = make_task(n_instances=12, sample_size=12)
    task.config["human"]["criteria"] = {"overall": "Is it good?", "fluency": "Fluent?"}
    task.save()
    both = {"owner": submitter, "team": team, "workers": [make_worker()]}
    for seed, quality in enumerate((0.9, 0.5, 0.1)):
        judge(task, quality, seed=seed, system=f"System {seed}", **both)
    assert misplaced(open_page("/tasks/tidy-news/weights/", width=width), "main") == []
