"""What the HIT page records beside an answer: nothing that is not believable, nothing public."""

import json
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services.work import next_assignment
from crowd.hits.services.check_answers import canary_word
from crowd.models import Assignment, Telemetry
from crowd.workers.services import invitations
from genie.lib.retention import forget_old
from leaderboard.teams.selectors import data_of
from tests.browser import violations, wait_for_hit
from tests.crowd.making import POOL, do_one, hit_type, make_campaign, make_worker
from tests.factories import make_user

ANSWER = {"answer-0-0": "0.75"}
SENT = {
    "first_change_seconds": 0,
    "n_changes": 2,
    "n_focus_losses": 3,
    "n_copies": 1,
    "n_pastes": 0,
}


def send(site, wim, signals=None, **fields):
    assignment = next_assignment(wim)
    if signals is not None:
        fields["signals"] = signals if isinstance(signals, str) else json.dumps(signals)
    site.post(reverse("work:hit", args=[assignment.pk]), {**ANSWER, **fields})
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED
    return Telemetry.objects.filter(assignment=assignment).first()


def test_the_counts_are_kept_with_the_assignment(site, wim):
    make_campaign(1)
    row = send(site, wim, SENT)
    assert {name: getattr(row, name) for name in SENT} == SENT
    assert not row.canary
    [shown] = data_of(wim.user)["worker"]["signals"]
    assert shown["n_focus_losses"] == 3
    address = reverse("work:hit", args=[Assignment.own.get().pk])
    again = {**ANSWER, "signals": json.dumps({**SENT, "n_pastes": 9})}
    site.post(address, again)
    assert Telemetry.own.get().n_pastes == 0


def test_what_no_script_of_ours_sends_is_ignored(site, wim):
    never = [
        *("", "x", "[]", "null", "NaN", "[" * 299, "9" * 5_000),
        *({**SENT, "n_pastes": n} for n in (-1, 1.5, True, "1", None, [1])),
        *({**SENT, "first_change_seconds": n} for n in (-3, "soon")),
        {**SENT, "pasted": "all of it"},
        {"n_pastes": 1},
        *(json.dumps(SENT).replace("3", n) for n in ("1e999", "NaN")),
    ]
    make_campaign(len(never))
    for sent in never:
        assert send(site, wim, sent) is None, sent


def test_counts_and_times_are_believed_no_further_than_they_can_be(site, wim):
    make_campaign(1)
    row = send(site, wim, {**SENT, "n_copies": 10**40, "first_change_seconds": 10**9})
    assert row.n_copies == 9_999
    assert row.first_change_seconds < 60


def test_only_a_task_that_asks_for_it_has_a_field_for_programs(site, wim):
    make_campaign(1)
    address = reverse("work:hit", args=[next_assignment(wim).pk])
    assert "automated tools" not in site.get(address).text
    assert send(site, wim) is None


def test_the_field_for_programs_is_out_of_everybodys_way(site, wim):
    make_campaign(1, hit_type=hit_type(form={"canary": True}))
    assignment = next_assignment(wim)
    page = site.get(reverse("work:hit", args=[assignment.pk])).text
    assert canary_word(assignment) in page
    assert '<div class="hidden-visually" aria-hidden="true">' in page
    assert 'name="assistant" value="" tabindex="-1" autocomplete="off"' in page


def test_only_the_word_itself_counts(site, wim):
    make_campaign(9, hit_type=hit_type(form={"canary": True}))
    of_another = canary_word(next_assignment(make_worker()))
    for fields, caught in (
        ({"assistant": "{word}"}, True),
        ({"assistant": " {word}. "}, True),
        ({"remark": "The word is {word}"}, True),
        ({"assistant": "Wim"}, False),  # a browser that fills in names
        ({"assistant": "{word}{word}"}, False),
        ({"assistant": of_another}, False),
        ({"assistant": "x" * 100_000}, False),
        ({}, False),
    ):
        word = canary_word(next_assignment(wim))
        sent = {name: text.replace("{word}", word) for name, text in fields.items()}
        row = send(site, wim, **sent)
        assert bool(row and row.canary) is caught, fields


def test_workers_are_asked_again_what_they_agree_to(client):
    make_campaign(1)
    wim = make_worker(user=make_user("wam"), agreed=False)
    wim.consents.create(pool_id=POOL, text_sha256="0" * 64)
    client.force_login(wim.user)
    page = client.get(reverse("work:consent", args=[POOL])).text
    assert "copy or paste" in page
    assert next_assignment(wim) is None
    invitations.give_consent(wim, POOL)
    assert next_assignment(wim) is not None


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_the_page_notices_is_counted_and_never_what_it_was(open_page, wim):
    make_campaign(2, hit_type=hit_type(form={"canary": True}))
    address = reverse("work:hit", args=[next_assignment(wim).pk])
    page = open_page(address, user=wim.user)
    assert violations(page) == []
    page.keyboard.press("2")
    page.get_by_text("Something is wrong with this HIT").click()
    page.get_by_label("What is wrong?").fill("secret")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("ControlOrMeta+c")
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.reload()  # the same turn
    page.keyboard.press("3")
    # Tab never leads to the field that only programs find.
    for _ in range(3):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") != "assistant"
    page.get_by_role("button", name="Submit").click()
    wait_for_hit(page, 2)
    row = Telemetry.own.get()
    assert (row.n_focus_losses, row.n_copies, row.n_pastes) == (1, 1, 0)
    assert row.n_changes >= 2
    assert row.first_change_seconds is not None
    assert not row.canary


def test_old_signals_are_forgotten_and_answers_stay(settings):
    make_campaign(2)
    wim = make_worker()
    old, new = do_one(wim), do_one(wim)
    for assignment in (old, new):
        Telemetry.objects.create(assignment=assignment)
    year_ago = timezone.now() - timedelta(
        days=settings.GENIE["KEEP_DAYS"]["signals"] + 1
    )
    Assignment.objects.filter(pk=old.pk).update(submitted_at=year_ago)
    assert forget_old()["signals"] == 1
    assert Telemetry.own.get().assignment == new
    assert old.ratings.exists()
