"""What programs said of a draft goes with it, whatever was under way, and money is counted."""

# ruff: noqa: F401, F811
from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.judges.models import (
    JudgeAnswer,
    JudgeBudget,
    JudgeCall,
    JudgeCost,
    JudgeRun,
    JudgeSheet,
)
from leaderboard.judges.services import decide, sheets, work
from leaderboard.models import Draft
from leaderboard.studio.services import keep, simulated
from tests.factories import make_user
from tests.judge_server import texts_in
from tests.leaderboard.judges.conftest import make_judge, server
from tests.leaderboard.studio.test_new import (
    WIDE,
    boss,
    csv_of,
    new,
)
from tests.leaderboard.studio.test_pages import at
from tests.leaderboard.studio.test_simulated import (
    PRICES,
    approve,
    draft,
    mia,
    price,
)

pytestmark = pytest.mark.django_db


def quotes(body):
    reason = " ".join(texts_in(body).values())
    return json.dumps({"overall": {"reason": reason, "answer": "Agree"}})


def nothing_is_left():
    assert not JudgeCall.objects.exclude(reasons={}).exists()
    assert not JudgeCall.objects.exclude(problem="").exists()
    assert not JudgeAnswer.objects.exists()
    assert {one.content == {} for one in JudgeSheet.objects.all()} == {True}
    assert {one.title for one in JudgeSheet.objects.all()} == {"deleted"}


def test_answers_go_with_a_deleted_draft_and_money_stays(mia, draft, server):
    server.rule = quotes
    make_judge(**PRICES)
    JudgeBudget.objects.create(task=None, cents=10_000)
    approve(mia, draft, price(mia, draft, "lark 1"), private="on")
    # what is priced anew is not bought again
    price(mia, draft, "lark 1")
    assert JudgeAnswer.objects.count() == 10
    spent = JudgeRun.objects.order_by("pk")[0].microcents
    mia.post(at(draft, "delete"))
    nothing_is_left()
    assert JudgeCost.objects.count() == 10
    assert JudgeRun.objects.order_by("pk")[0].microcents == spent > 0
    assert JudgeCall.objects.exclude(values={}).count() == 10


@pytest.mark.parametrize("told", ["reasons", "refusals"])
def test_what_arrives_after_a_draft_was_deleted_is_not_kept(
    mia,
    draft,
    server,
    monkeypatch,
    told,
):
    server.rule = quotes if told == "reasons" else lambda body: "REFUSE"
    make_judge(at_once=2, n_retries=0)
    stored = work.ledger.keep

    def deletes(cost, reply):
        answer = stored(cost, reply)
        if Draft.objects.exists():
            keep.delete(Draft.objects.get())
        return answer

    monkeypatch.setattr(work.ledger, "keep", deletes)
    page = price(mia, draft, "lark 1")
    monkeypatch.setattr(
        "tests.leaderboard.studio.test_simulated.text", lambda _: "gone"
    )
    approve(mia, draft, page, private="on")
    assert len(server.requests) >= 1
    nothing_is_left()
    assert JudgeRun.objects.get().state == "DECLINED"


def test_what_arrives_after_an_end_is_bought_and_has_no_words(
    mia,
    draft,
    server,
    monkeypatch,
):
    server.rule = quotes
    make_judge(at_once=1)
    stored = work.ledger.keep

    def ends(cost, reply):
        answer = stored(cost, reply)
        simulated.end(draft, by=None, reason="Enough.")
        return answer

    monkeypatch.setattr(work.ledger, "keep", ends)
    approve(mia, draft, price(mia, draft, "lark 1"), private="on")
    assert not JudgeCall.objects.exclude(reasons={}).exists()
    # the draft is still there: its answers are not bought again
    assert JudgeAnswer.objects.exists()


def test_a_killed_command_leaves_no_texts(new, monkeypatch):
    wanted = ("mine", {"a.csv": csv_of(WIDE)}, "--pilot-by", "words", "--pilot-send")
    where = "leaderboard.management.simulated.run_here"

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(where, interrupted)
        new(*wanted)
    assert JudgeSheet.objects.get().content == {}
    assert JudgeRun.objects.get().state == "DECLINED"


def test_files_of_a_command_that_was_killed_outright_are_forgotten():
    old, fresh = (
        JudgeSheet.objects.create(key=f"files-{n}", title="x", content={"items": []})
        for n in range(2)
    )
    before = timezone.now() - timedelta(days=2)
    JudgeSheet.objects.filter(pk=old.pk).update(created_at=before)
    keep.forget_old()
    old.refresh_from_db()
    fresh.refresh_from_db()
    assert (old.content, fresh.content) == ({}, {"items": []})


def test_only_what_was_approved_now_is_written_down(mia, draft, monkeypatch):
    price(mia, draft, "words 1")
    sheet = JudgeSheet.objects.get()
    # somebody else was faster
    monkeypatch.setattr(decide, "approve", lambda *_, **__: False)
    assert sheets.approve(sheet, by=make_user("late"), cents=0) == 0


def test_staff_see_what_a_draft_costs_and_not_what_was_said_of_it(mia, draft):
    approve(mia, draft, price(mia, draft, "words 1", repeats="2"))
    run = JudgeRun.objects.get()
    assert run.state == "DONE"
    boss = Client()
    boss.force_login(make_user("root", is_staff=True, is_superuser=True))
    page = boss.get(reverse("admin:leaderboard_judgerun_change", args=[run.pk]))
    assert page.status_code == 200
    said = page.content.decode()
    assert "20 answered" in said
    assert "by a script" not in said
    for name in ("judgerun", "judgecost", "judgebudget", "judgecall"):
        address = reverse(f"admin:leaderboard_{name}_changelist")
        assert boss.get(address).status_code == 200
    assert not boss.get(reverse("api:judge-run-list")).json()["results"]
    for name in ("detail", "licences", "plan"):
        address = reverse(f"api:judge-run-{name}", args=[run.pk])
        assert boss.get(address).status_code == 404
