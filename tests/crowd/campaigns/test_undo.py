"""An answer can be changed for some seconds: paid once, and never after a decision."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.urls import reverse
from django.utils import timezone

from crowd import hit_templates
from crowd.campaigns.services import review, run, undo
from crowd.campaigns.services.work import next_assignment
from crowd.hits.services.build import ItemSpec
from crowd.models import Assignment, LedgerEntry, Rating
from crowd.workers.services import exclusions
from genie.lib.errors import GenieError
from quality.models import Grade, TestQuestion
from quality.test_questions.services import grade
from tests.crowd.making import (
    answers_for,
    do_one,
    hit_type,
    make_campaign,
    make_worker,
    send_in,
    text_of,
)

State = Assignment.State
JSON = {"Accept": "application/json"}
TOO_LATE = "This answer can no longer be changed"


def at_change(assignment):
    return reverse("work:change", args=[assignment.pk])


def age(assignment, seconds):
    Assignment.objects.filter(pk=assignment.pk).update(
        submitted_at=timezone.now() - timedelta(seconds=seconds)
    )


def value(assignment):
    return Rating.objects.get(assignment=assignment).value


@pytest.mark.every_engine
def test_a_changed_answer_takes_the_place_of_the_first_and_pays_once(wim):
    make_campaign(2)
    done = do_one(wim, "0.25")
    paid = list(LedgerEntry.own.values_list())
    for _ in range(2):  # the same again changes nothing
        undo.change_page([done], [answers_for(done, "1")], remark="I slipped.")
    done.refresh_from_db()
    assert (value(done), done.state, done.remark) == (
        1.0,
        State.SUBMITTED,
        "I slipped.",
    )
    assert list(LedgerEntry.own.values_list()) == paid


def decided(done, campaign, how):
    if how == "approved":
        review.approve([done.pk])
    elif how == "approved by itself":
        age(done, 25 * 3600)
        review.approve_waiting()
    elif how == "rejected":
        review.reject(done.pk, None, "No effort.")
    elif how == "over":
        run.complete(campaign.pk)
    elif how == "excluded":
        exclusions.exclude(done.worker, campaign.pool_id, "No more of this work.")
    elif how == "old":
        age(done, 75)
    else:
        Assignment.objects.filter(pk=done.pk).update(replaced_at=timezone.now())


@pytest.mark.parametrize(
    "how",
    [
        "approved",
        "approved by itself",
        "rejected",
        "over",
        "excluded",
        "old",
        "asked of another",
    ],
)
def test_what_is_decided_stays(wim, how):
    campaign = make_campaign(2)
    done = do_one(wim, "0.25")
    decided(done, campaign, how)
    before = Assignment.own.values().get(pk=done.pk)
    with pytest.raises(GenieError, match=TOO_LATE):
        undo.change_page([done], [answers_for(done, "1")])
    assert value(done) == 0.25
    assert Assignment.own.values().get(pk=done.pk) == before


def test_a_test_question_is_marked_anew_and_looks_like_any_other(wim):
    campaign = make_campaign(2)
    done = do_one(wim, "0.25")
    test_question = TestQuestion.objects.create(
        campaign=campaign, item=done.hit.items.get(), polarity="POSITIVE"
    )
    for state, n in (("REJECTED", 0), ("SUBMITTED", 1)):
        Assignment.own.update(state=state)
        assert grade(campaign) == n
    assert not Grade.own.get().correct
    # graded or not: Undo is offered for as long
    done.refresh_from_db()
    assert undo.seconds_left(done) > 5
    undo.change_page([done], [answers_for(done, "1")])
    assert list(Grade.own.values_list("test_question", "correct")) == [
        (test_question.pk, True)
    ]
    assert grade(campaign) == 0


def test_without_a_script_undo_is_a_link_to_the_answer(site, wim):
    make_campaign(3)
    first = next_assignment(wim)
    at = reverse("work:hit", args=[first.pk])
    page = site.post(at, {"answer-0-0": "0.25", "remark": "Odd."}, follow=True)
    assert at_change(first) in page.text
    shown = site.get(at_change(first)).text
    assert re.search(r'value="0.25"[^>]* checked', shown)
    assert "Odd.</textarea>" in shown
    missing = site.post(at_change(first), {})
    assert missing.status_code == 422
    assert "Please answer every question" in text_of(missing)
    changed = site.post(at_change(first), {"answer-0-0": "0.75"})
    second = Assignment.own.get(state=State.ACCEPTED)
    assert changed["Location"] == reverse("work:hit", args=[second.pk])
    assert (value(first), LedgerEntry.own.count()) == (0.75, 1)
    # the offer ends; the page that is open may still be sent for a minute
    age(first, 20)
    assert at_change(first) not in site.get(changed["Location"]).text
    assert "It can no longer be changed" in text_of(site.get(at_change(first)))
    site.post(at_change(first), {"answer-0-0": "1"})
    assert value(first) == 1.0
    age(first, 75)
    late = site.post(at_change(first), {"answer-0-0": "0"})
    assert (late.status_code, value(first)) == (409, 1.0)
    assert TOO_LATE in text_of(late)


def test_the_last_answer_of_all_can_be_changed_too(site, wim):
    make_campaign(1)
    only = next_assignment(wim)
    site.post(reverse("work:hit", args=[only.pk]), {"answer-0-0": "0.25"}, headers=JSON)
    assert f'href="{at_change(only)}"' in site.get(reverse("work:home")).text
    reply = site.post(at_change(only), {"answer-0-0": "1"}, headers=JSON).json()
    assert (reply["next"], value(only)) == (reverse("work:home"), 1.0)


def test_nobody_changes_the_answer_of_another(site):
    make_campaign(2)
    done = do_one(make_worker(), "0.25")
    assert site.get(at_change(done)).status_code == 404
    assert site.post(at_change(done), {"answer-0-0": "1"}).status_code == 404
    assert value(done) == 0.25


def test_a_task_sets_how_long_or_offers_none(site, wim):
    make_campaign(2, hit_type=hit_type(form={"undo_seconds": 0}))
    done = send_in(next_assignment(wim))
    page = site.post(reverse("work:next"), follow=True)
    assert "Undo" not in page.text
    with pytest.raises(GenieError, match=TOO_LATE):
        undo.change_page([done], [answers_for(done, "1")])
    for wrong in (-1, 61, "10", 2.5):
        with pytest.raises(GenieError, match="undo_seconds must be"):
            make_campaign(1, hit_type=hit_type(form={"undo_seconds": wrong}))


def test_marks_and_ticks_come_back_as_they_were_sent(site, wim):
    template = hit_templates.get("error-span-translation")
    kind = hit_type(template=template.slug, scale=template.scale, form={"checkboxes": ["added"]})  # fmt: skip
    make_campaign(hit_type=kind, of=[ItemSpec("k", template.example, "k")])
    only = next_assignment(wim)
    spans = '[{"start": 0, "end": 3, "severity": "minor"}]'
    sent = {"answer-0-0": "62.5", "answer-0-1": "1", "spans-0": spans}
    site.post(reverse("work:hit", args=[only.pk]), sent)
    shown = unescape(site.get(at_change(only)).text)
    assert 'name="answer-0-0" value="62.5"' in shown
    assert 'name="answer-0-1" value="1" checked' in shown
    assert "&quot;severity" in site.get(at_change(only)).text
    site.post(at_change(only), {"answer-0-0": "40"})
    rating = Rating.objects.get(assignment=only, criterion="overall")
    assert (rating.value, rating.detail) == (40.0, {"spans": []})
    assert Rating.objects.get(assignment=only, criterion="added").value == 0.0
