"""Genie (EMNLP 2022) as published: five tasks, from a submission to its leaderboard."""

from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from crowd.models import Campaign
from leaderboard.evaluation import decide
from leaderboard.evaluation.services.simulate import Crowd
from leaderboard.tasks import shipped
from leaderboard.tasks.services import load
from quality.models import DetectorFit, TestQuestion, Verdict
from tests.each import with_slow
from tests.leaderboard.evaluation import steps

XSUM = ["overall", "conciseness", "fluency", "no-hallucination", "informativeness"]
METRICS = ["BERTScore", "ROUGE-L", "METEOR", "SacreBLEU", "BLEURT"]
# the task -> the demonstration that lends its texts
TEXTS = dict.fromkeys(["wmt19-de-en", "wmt21-de-en"], "demo-translation")
TEXTS |= {"arc-da": "demo-qa", "anlg": "demo-abductive", "xsum": "demo-summarization"}


@pytest.fixture(params=with_slow(TEXTS, {"anlg", "wmt19-de-en"}))
def task(request, db):
    lent = TEXTS[request.param]
    release = shipped.definition(lent)["release"]
    document = {**shipped.definition(request.param), "release": release}
    return load.load_definition(request.param, document, shipped.data_of(lent)).task


def test_a_submission_gets_to_the_columns_of_the_papers_leaderboard(
    task, good, sam, boss, diligent, settings
):
    settings.GENIE = {**settings.GENIE, "CAMPAIGN_HOUR": 3}
    pairs, right = task.slug == "xsum", steps.references_of(task)
    texts = {**good, **dict.fromkeys([*good][::2], "Nobody knows.")}
    submission = steps.hand_in(task, sam, "Heron", texts)
    decide.approve(submission.evaluation, by=boss)
    steps.settle()
    campaign = Campaign.own.get()
    start = campaign.starts_at.astimezone(ZoneInfo("America/Los_Angeles"))
    assert (start.hour, start.minute, start.weekday() < 5) == (10, 0, True)
    assert set(campaign.hits.values_list("max_assignments", flat=True)) == {1}
    for polarity in ("POSITIVE", "NEGATIVE"):
        asked = TestQuestion.own.filter(campaign=campaign, polarity=polarity)
        assert len(asked) == round(0.05 * task.sample_size)
        for data in (one.item.data for one in asked):
            shown = data.get("outputs") or [{"text": data["prediction"]}]
            texts = {one["text"] for one in shown}
            assert texts <= set.union(*right.values())
            assert (len(texts) == 2) == (pairs and polarity == "NEGATIVE")
    # twenty systems need more references than there are
    assert set(TestQuestion.own.values_list("text_sha256", flat=True)) == {""}

    def of_text(item, text=None):
        return float((text or item.data["prediction"]) in right[item.content_key])

    Campaign.own.update(starts_at=timezone.now())
    steps.settle()
    crowd = Crowd(diligent, quality=of_text, of_text=of_text, seed=1)
    found = steps.work_until(crowd, submission, lambda row: row.state == "PUBLISHED")
    fits = DetectorFit.objects.filter(pool=task.slug, detector="class-learned-2")
    assert set(fits.values_list("polarity", flat=True)) == {"POSITIVE", "NEGATIVE"}
    assert set(Verdict.own.values_list("threshold", flat=True)) == {0.99}
    scores = found.human_evaluation.current_scores
    assert [one.criterion for one in scores] == XSUM[: 5 if pairs else 1]
    for one in scores:
        assert one.mean == pytest.approx(25 if pairs else 50, abs=4)
        assert "ci:percentile95" in one.signature
        assert "detector:class-learned-2|est:plain" in one.signature
    page = Client().get(f"/tasks/{task.slug}/?show=metrics").text
    assert "Method: genie-2022." in page
    heads = page.partition("<thead>")[2].partition("</thead>")[0]
    criteria = [one.criterion.replace("-", " ").capitalize() for one in scores[1:]]
    assert [name for name in (*METRICS, *criteria) if name not in heads] == []
