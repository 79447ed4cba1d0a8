"""Who approves a comparison or a joint evaluation reads what it is expected to show."""

import re

import pytest

from leaderboard.evaluation import decide
from leaderboard.evaluation.services import comparison, joint
from leaderboard.evaluation.services.comparison import Question
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.models import JointEvaluation
from leaderboard.stats.stopping.sequential import SignFlips, exact_walk, rule_named
from tests.factories import signed_in


def told(row):
    return strategy_of(row).forecast(row, decide.quote(row).total_cents)


def test_a_comparison_is_planned_by_the_rules_own_power(right, wrong, boss):
    question = Question("overall", rule="beta-mixture", max_pairs=400)
    asked = comparison.request(right, wrong, question, by=boss)
    # there are fewer pairs than the budget allows
    n = asked.task.n_instances
    power = exact_walk(rule_named("beta-mixture", 0.025), 0.6, n).decided_by[-1]
    assert f"with a probability of {100 * power:.0f}%" in " ".join(told(asked))


def test_the_default_rule_names_the_fewest_workers_who_can_decide(right, wrong, boss):
    asked = comparison.request(right, wrong, Question("overall"), by=boss)
    fewest = SignFlips(0.025).fewest_workers(asked.task.n_instances)
    needs, *chances = told(asked)[-3:]
    assert f"needs at least {fewest} workers to decide; 10 are wanted." in needs
    assert "standard deviation of 0.6" in chances[0]
    # 70 and 100% in simulated comparisons (benchmarks/bench_comparisons.py)
    assert SignFlips(0.025).power(0.7, 100, 20) == pytest.approx(0.7, abs=0.1)
    assert SignFlips(0.025).power(0.7, 400, 5) == 0


def test_one_fixed_worker_teaches_nothing_of_others(right, wrong, boss):
    question = Question("overall", rule="beta-mixture", strategy="fixed-worker")
    asked = comparison.request(right, wrong, question, by=boss)
    assert told(asked)[0].endswith("other raters might disagree.")


def test_a_joint_evaluation_is_planned_by_the_one_before(ranked, right, wrong, boss):
    asked = joint.request([right, wrong], by=boss, n_instances=8, n_workers=2)
    found = ranked
    about = found.results["criteria"]["quality"]
    assert about["n_workers"] >= 5
    about["variances"] |= {"worker": 0.02, "instance": 0.01, "residual": 0.2}
    JointEvaluation.objects.filter(pk=found.pk).update(results=found.results)
    first, *aims = told(asked)
    # 100 (exp(1.96 sqrt(.01/8 + .2/16 + .02/10)) - 1)
    assert "give a system’s score to about ± 27.9% (95% interval, quality)" in first
    assert f"Estimated from {about['n_judgements']} pages" in first
    assert len(aims) == 2
    about["variances"] |= {"day": 0.04, "n_days": 4.3}
    JointEvaluation.objects.filter(pk=found.pk).update(results=found.results)
    # and .04/4 more
    assert "to about ± 37.0%" in told(asked)[0]


def test_systems_on_every_other_page_are_half_known(ranked, right, wrong, level, boss):
    found = ranked
    about = found.results["criteria"]["quality"]
    about["variances"] |= {"worker": 0.0, "instance": 0.0, "residual": 0.32}
    JointEvaluation.objects.filter(pk=found.pk).update(results=found.results)
    four = [right, wrong, *level]
    all_four, two = (
        joint.request(four, by=boss, n_instances=8, n_workers=2, per_page=n)
        for n in (None, 2)
    )
    # 1.96 sqrt(.32 / 16) and sqrt(.32 / 8)
    assert "to about ± 31.9%" in told(all_four)[0]
    assert "to about ± 48.0%" in told(two)[0]


def test_the_pages_that_ask_for_approval_show_it(right, wrong, boss):
    office = signed_in(boss)
    requests = (
        comparison.request(right, wrong, Question("overall"), by=boss),
        joint.request([right, wrong], by=boss, n_instances=8),
    )
    assert told(requests[1]) == [
        "Magnitudes have no worst case: what precision to expect is known after the "
        "first joint evaluation of this task by at least 5 workers."
    ]
    for row in requests:
        name = type(row).__name__.lower()
        page = office.get(f"/admin/leaderboard/{name}/{row.pk}/approve/")
        text = " ".join(re.sub(r"<[^>]+>", " ", page.text).split())
        for sentence in told(row):
            assert sentence in text
