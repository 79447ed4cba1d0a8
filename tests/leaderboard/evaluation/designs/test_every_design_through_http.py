"""One campaign in each of the nine designs, answered by workers who only know pages.

They come by invitation, agree, read, and send the forms that stand on the pages, as
browsers do. They know the right answers, so what must come out is known to the digit.
"""

import pytest
from django.test import Client

from crowd import hit_templates
from crowd.models import Assignment, Commitment
from crowd.workers.services import invitations
from leaderboard.evaluation.selectors.joint import estimates_of
from leaderboard.evaluation.services import joint
from leaderboard.models import JointEvaluation, Score, Submission
from quality.models import Ban, Grade
from tests.each import with_slow
from tests.http_worker import HttpWorker
from tests.leaderboard.evaluation.designs.test_every_design_walks_to_the_board import (
    DIRECT,
)
from tests.leaderboard.evaluation.steps import launch, send_out, settle

# Of 6 instances 3 are answered rightly; 2 are asked as tests, and of the others 2 are
# right. What a right and a wrong one earn:
EXPECTED = {
    "direct-assessment": 50,
    "binary": 50,
    "likert-6": 50,
    "slider": 50,
    "error-spans": 50,
    # as good as the reference, and a tenth of it: the geometric mean
    "plain-magnitude": 10 ** (2 - 2 / 4),
    # level with the reference (the same words), and behind it
    "preference": 25,
}
# `make test` walks a score that is turned to the system's side, and marks.
SELDOM = EXPECTED.keys() - {"preference", "error-spans"}


@pytest.fixture
def read(task):
    """Know which answers are right: a text counts under the question it stands below."""
    right = {row.fields["question"]: row.references for row in task.instances.all()}

    def opinion(given, text):
        return float(any(text in right[q] for q in given.split("\n") if q in right))

    return opinion


@pytest.fixture
def people(task, boss, read):
    """Let workers do all the work there is, in turns, through pages alone."""
    crowd = []

    def work(n):
        new = [HttpWorker(f"reader-{len(crowd) + i}", read) for i in range(n)]
        for one in new:
            one.arrive(invitations.invite(boss), task.slug)
        crowd.extend(new)
        for _ in range(2):
            for one in crowd:
                if one.has_work or one.resume(task.slug):
                    while one.has_work:
                        one.answer()
                    assert "There is no more of this work" in one.page.text
            settle()

    return work


def asked_as_the_template_asks(design):
    scale, slug = DIRECT[design]
    template = hit_templates.get(slug)
    return {
        "design": design,
        "scale": scale,
        "hit_template": slug,
        "criteria": dict(template.questions),
        **template.form,
        "sample_size": 4,
        "positive_share": 0.25,
        "negative_share": 0.25,
    }


# `mqm` has marks alone: test_every_design_in_a_browser answers it
@pytest.mark.parametrize("design", with_slow(EXPECTED, SELDOM))
def test_from_submission_to_board_through_pages_alone(
    design, ask, measured, boss, people, task
):
    ask(**asked_as_the_template_asks(design))
    found = launch(measured("Heron", 6 / 8, simulated=False), boss)
    people(3)
    found = Submission.objects.get(pk=found.pk)
    assert found.state == "PUBLISHED", found.work.failure
    scores = list(Score.objects.filter(submission=found).order_by("pk"))
    asked = hit_templates.get(DIRECT[design][1]).questions
    assert {one.criterion for one in scores} >= set(asked)
    for one in scores:
        if one.criterion in asked:
            # as each worker's own level is taken out, what counts may be a little off
            plain = one.estimates.get("plain", {"mean": one.mean})["mean"]
            assert plain == pytest.approx(EXPECTED[design], abs=1e-6)
            assert (one.n, one.n_excluded_workers) == (4, 0)
            assert f"human:{design}|scale:{DIRECT[design][0]}" in one.signature
            # an item, an output or a test, is rated twice
            assert sum(one.histogram.values()) in {4, 5}
    if design == "error-spans":
        # a careful reader marks one major error in each wrong one
        marks = scores[-1]
        assert (marks.criterion, marks.mean, marks.n) == ("spans", -10 / 4, 4)
        assert marks.low < marks.mean < marks.high <= 0
        assert marks.histogram == {"-5": 2, "0": 2}
        assert "scale:slider-100|criterion:spans|agg:mean" in marks.signature
        page = Client().get(f"/submissions/{found.pk}/").text
        assert "-1 for each minor and -5 for each major one" in page
        assert page.index("All in all, how good") < page.index("Marked errors:")
        told = " ".join(found.events.values_list("sentence", flat=True))
        assert "Scored 50.0" in told
    board = Client().get(f"/tasks/{task.slug}/").text
    assert "Heron" in board
    assert f"{scores[0].mean:.1f}" in board
    assert Grade.own.filter(correct=False).count() == 0 < Grade.own.count()
    assert Assignment.own.exclude(state="SUBMITTED").count() == 0
    assert not Ban.own.exists()
    assert not Commitment.own.filter(settled_at=None).exists()


def test_several_systems_are_ranked_through_pages(ask, measured, boss, people, task):
    ask()
    systems = [
        measured(name, share, simulated=False)
        for name, share in [("Poor", 0.0), ("Good", 1.0), ("Fair", 3 / 8)]
    ]
    found = send_out(joint.request(systems, by=boss, n_instances=4), boss)
    people(3)
    found = JointEvaluation.objects.get(pk=found.pk)
    assert found.state == "SCORED", found.failure
    page = Client().get(f"/joint-evaluations/{found.pk}/").text
    rows = page[page.index("<tbody>") :]
    assert rows.index(">Good<") < rows.index(">Fair<") < rows.index(">Poor<")
    assert Ban.own.count() == 0
    [(criterion, result)] = found.results["criteria"].items()
    of = {row.submission_id: row.mean for row in estimates_of(found)[criterion]}
    poor, good, fair = (of[one.pk] for one in systems)
    assert (poor, good) == pytest.approx((10, 100), abs=1)
    # one or two of four are right, as which instances are drawn differs from day to day
    assert poor < fair < good
    assert result["n_judgements"] == 5
