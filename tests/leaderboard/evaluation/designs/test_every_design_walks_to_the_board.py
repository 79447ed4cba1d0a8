"""One full campaign in each design: approved, asked, cleaned, scored, published."""

import json
from statistics import fmean

import pytest
from django.test import Client

from crowd.models import Campaign, Commitment, Rating
from leaderboard.evaluation import decide
from leaderboard.models import Score, ShownOutput
from quality.models import Ban, Grade
from tests.factories import asked_about
from tests.leaderboard.evaluation.steps import hand_in, launch, settle
from tests.refusals import refusal

DIRECT = {
    "direct-assessment": ("likert-5", "question-answering"),
    "binary": ("binary", "binary-judgement"),
    "likert-6": ("likert-6", "likert-6-judgement"),
    "slider": ("slider-100", "slider-translation"),
    "error-spans": ("slider-100", "error-span-translation"),
    "mqm": ("mqm", "mqm-translation"),
    "plain-magnitude": ("magnitude", "magnitude-judgement"),
    "preference": ("preference-5", "preference-summarization"),
}


def asked_in(design: str) -> dict:
    scale, template = DIRECT[design]
    return {"design": design, "scale": scale, "hit_template": template}


# of the others test_every_design_through_http knows the very scores
def test_a_better_system_scores_higher_by_its_marks(ask, published):
    ask(**asked_in("mqm"))
    good, poor = published("Good", 1.0), published("Poor", 0.25)
    assert (good.state, poor.state) == ("PUBLISHED", "PUBLISHED"), (
        good.work.failure + poor.work.failure
    )
    best, worst = (
        Score.objects.get(submission=s, criterion="overall", superseded_at=None)
        for s in (good, poor)
    )
    assert -25 <= worst.low <= worst.mean <= worst.high
    assert worst.mean < best.mean
    assert (best.n, best.criterion) == (8, "overall")
    assert "human:mqm|scale:mqm" in best.signature
    # one of the eight is rated twice
    assert sum(best.histogram.values()) == 9
    assert Ban.own.count() == 0
    # Diligent simulated workers wobble: once in a while one lands on the other side.
    n_right = Grade.own.filter(correct=True).count()
    assert n_right >= Grade.own.count() - 1 > 0
    assert Commitment.own.filter(settled_at=None).count() == 0
    # the story of simulated workers speaks of no people
    told = " ".join(good.events.order_by("pk").values_list("sentence", flat=True))
    assert "8 outputs will be rated by simulated annotators, starting on" in told
    assert "Simulated annotators have answered" in told
    assert "people" not in told.lower()


def test_a_preference_is_turned_to_the_systems_side(ask, published):
    ask(**asked_in("preference"), positive_share=0.25, negative_share=0.25)
    poor = published("Unmistakable-Name", 0.0)
    rows = ShownOutput.objects.filter(submission=poor)
    assert {row.slot for row in rows} == {"A", "B"}
    by_slot = {}
    for row in rows:
        value = Rating.objects.get(item=row.subject.item).value
        by_slot.setdefault(row.slot, []).append(value)
    # stored from A's side: low where the system stood there, high where it did not
    # simulated workers wobble: one cannot choose
    assert max(by_slot["A"]) <= 0.5 <= min(by_slot["B"])
    assert fmean(by_slot["A"]) < 0.5 < fmean(by_slot["B"])
    assert Score.objects.get(submission=poor, superseded_at=None).mean < 50
    # items name no system, and test questions want the own reference
    campaign = poor.human_evaluation.campaign
    for item in campaign.items.all():
        assert set(item.data) == {"fields", "lang", "outputs"}
        assert [output["slot"] for output in item.data["outputs"]] == ["A", "B"]
        assert all(set(output) == {"slot", "text"} for output in item.data["outputs"])
        assert "Unmistakable-Name" not in str(item.data)
    grades = Grade.own.filter(test_question__campaign=campaign)
    assert {grade.test_question.expected["slot"] for grade in grades} == {"A", "B"}
    for grade in grades.select_related("test_question__item"):
        answer = Rating.objects.get(assignment=grade.assignment_id)
        right = grade.test_question.expected["slot"]
        assert (answer.value > 0.5) == (right == "A")


def test_criteria_apart_have_own_campaigns_money_and_scores(ask, published, task):
    config = {
        **asked_in("likert-6"),
        "setup": 2,
        "show_input": {"naturalness": False},
        "criteria": {
            "informativeness": "Does it say what is asked?",
            "naturalness": "Could a person have written it?",
        },
    }
    ask(**config)
    found = published("Good", 1.0)
    assert found.state == "PUBLISHED", found.work.failure
    campaigns = list(Campaign.own.order_by("pk"))
    assert [list(c.hit_type.criteria) for c in campaigns] == [
        ["informativeness"],
        ["naturalness"],
    ]
    assert campaigns[1].hit_type.form["show_input"] == {"naturalness": False}
    assert set(
        Score.objects.filter(submission=found).values_list("criterion", flat=True)
    ) == {"informativeness", "naturalness"}
    spent = {c.key: c.amount_cents for c in Commitment.own.all()}
    assert set(spent) == {c.key for c in campaigns}
    assert sum(spent.values()) <= found.evaluation.approved_cents
    assert Commitment.own.filter(settled_at=None).count() == 0
    # without the input another reference is no worse: the words are shuffled
    wrong = Grade.own.filter(
        test_question__campaign=campaigns[1], polarity="NEGATIVE"
    ).first()
    text = wrong.test_question.item.data["prediction"]
    assert all(text not in row.references for row in task.instances.all())


def test_ticks_become_shares_and_several_people_may_judge_each_instance(ask, published):
    ask(**asked_in("likert-6"), checkboxes=["added", "missed"], ratings_per_instance=3)
    found = published("Good", 1.0)
    scores = {s.criterion: s for s in Score.objects.filter(submission=found)}
    assert set(scores) == {"overall", "added", "missed"}
    assert (scores["added"].mean, scores["added"].n) == (0.0, 8)
    assert scores["added"].high > 0
    score = scores["overall"]
    assert (score.n, sum(score.histogram.values())) == (8, 24)
    assert score.n_workers >= 3
    campaign = found.human_evaluation.campaign
    assert set(campaign.hits.values_list("max_assignments", flat=True)) == {3}
    reward_cents = campaign.hit_type.reward_cents
    assert found.evaluation.approved_cents >= campaign.hits.count() * 3 * reward_cents


def test_a_design_for_several_systems_is_refused_in_words(ask, measured, boss):
    ask(design="rankme", scale="magnitude", hit_template="rankme-outputs")
    submission = launch(measured("Lonely", 1.0), boss)
    submission.refresh_from_db()
    assert submission.work.failure_permanent
    assert "request a comparison or a joint evaluation" in submission.work.failure


@pytest.mark.every_engine
@pytest.mark.parametrize("design", ["preference", "plain-magnitude"])
def test_lacking_references_are_refused_before_money(design, ask, measured, boss, task):
    ask(**asked_in(design))
    submission = measured("Good", 1.0)
    task.instances.filter(sample_rank=3).update(references=[])
    task.instances.filter(sample_rank=4).update(references=[" "])
    with refusal("no-references", match="2 of the instances"):
        decide.approve(asked_about(submission), by=boss)
    assert Commitment.own.count() == 0


def test_marks_that_outputs_bring_stand_on_every_page_tests_included(
    ask, boss, crowd, task, texts
):
    ask(**asked_in("error-spans"))
    rows = [
        {
            "id": name,
            "prediction": text,
            "error_spans": [{"start_i": 0, "end_i": 2, "severity": "minor"}],
            "error_spans_by": "a metric",
        }
        for name, text in texts(0.5).items()
    ]

    def handed_in(lines):
        content = "\n".join(map(json.dumps, lines)).encode()
        return hand_in(task, boss, "Marked", content, kind="jsonl")

    long = [{"start": 0, "end": 9_999, "severity": "minor"}]
    refused = handed_in([{**rows[0], "error_spans": long}, *rows[1:]])
    assert refused.state == "INVALID"
    assert refused.errors[0]["code"] == "unusable-marks"
    assert handed_in([{**rows[0], "error_spans": "x"}, *rows[1:]]).state == "INVALID"
    found = launch(handed_in(rows), boss)
    items = Campaign.own.get().items.all()
    assert len(items) > 8
    assert {item.data["spans_by"] for item in items} == {"a metric"}
    assert all("spans" in item.data for item in items)
    crowd.work()
    details = Rating.own.values_list("detail", flat=True)
    assert {detail["prefilled_by"] for detail in details} == {"a metric"}
    became = {span["was"] for detail in details for span in detail["spans"]}
    assert became <= {"kept", "changed", "added"}
    assert any(detail["removed"] for detail in details)
    settle()
    found.refresh_from_db()
    page = Client().get(f"/submissions/{found.pk}/").text
    assert found.state == "PUBLISHED"
    assert "Marked errors:" in page
