"""Staff's view of workers: their test questions, verdicts, bans with reasons."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model

from crowd.models import Assignment, Exclusion
from quality.bans import services
from quality.detection import admin
from quality.models import Ban, DetectorFit, Verdict
from tests.factories import (
    make_evaluation,
    make_submission,
    make_task,
    make_team,
    make_user,
    make_worker,
    signed_in,
)
from tests.quality.making import TASK as POOL
from tests.quality.making import graded

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(ada):
    return signed_in(ada)


@pytest.fixture
def asked(campaign):
    """Let a worker answer hidden questions: `asked(worker, POSITIVE="rrw")`."""

    def ask(worker, pool=POOL, **answers):
        if pool != POOL:
            task, nina = make_task(pool), get_user_model().objects.get(username="nina")
            submission = make_submission(task, team=make_team(pool, nina), owner=nina)
            where = make_evaluation(submission).campaign
        else:
            where = campaign
        for polarity, marks in answers.items():
            graded(where, worker, marks, polarity, pool)

    return ask


def make_verdict(worker, p_noisy, *, polarity="NEGATIVE", pool=POOL, n=4, right=1):
    fit = DetectorFit.objects.create(
        pool_id=pool,
        polarity=polarity,
        detector="class-learned-2",
        counts_sha256=f"{DetectorFit.own.count():064d}",
        n_workers=1,
        seed=1,
        code_version="0",
    )
    return Verdict.objects.create(
        fit=fit,
        worker=worker,
        n_questions=n,
        n_correct=right,
        p_noisy=p_noisy,
        threshold=0.99,
        noisy=p_noisy > 0.99,
    )


def row_of(text, worker):
    row = next(
        part
        for part in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)
        if worker.pseudonym in part
    )
    return re.sub(r"<[^>]+>|\s+", " ", row).split()


def confirmed(client, path, **fields):
    page = client.get(path)
    assert page.status_code == 200
    hidden = re.findall(
        r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text
    )
    return client.post(path, {**dict(hidden), **fields}, follow=True)


def test_each_worker_stands_with_right_and_wrong_by_polarity(boss, asked):
    careful, careless = make_worker(), make_worker()
    asked(careful, POSITIVE="rrr", NEGATIVE="rrw")
    asked(careless, POSITIVE="rw", NEGATIVE="wwww")
    make_verdict(careless, 0.99876)
    text = boss.get("/admin/quality/grade/").text
    words = f"{careful.pseudonym} Rate texts 6 3 0 no verdict yet 2 1 no verdict yet Leave out ratings"
    assert " ".join(row_of(text, careful)) == words
    words = f"{careless.pseudonym} Rate texts 6 1 1 no verdict yet 0 4 0.9988 noisy Leave out ratings"
    assert " ".join(row_of(text, careless)) == words
    assert text.index(careless.pseudonym) < text.index(careful.pseudonym)


def test_the_newest_verdict_of_each_polarity_counts(boss, asked):
    worker = make_worker()
    asked(worker, NEGATIVE="rr")
    make_verdict(worker, 0.9999)
    make_verdict(worker, 0.0123)
    make_verdict(worker, 0.5, pool=make_task("another-task").slug)
    words = row_of(boss.get("/admin/quality/grade/").text, worker)
    listed = boss.get("/admin/quality/verdict/").text
    assert listed.count('<td class="field-wrong">3</td>') == 3
    assert "0.0123" in words
    assert "0.9999" not in words


def test_the_list_can_be_narrowed_to_a_task_or_a_name(boss, asked, monkeypatch):
    here, there = make_worker(), make_worker()
    asked(here, POSITIVE="r")
    asked(there, POSITIVE="r", pool="other-task")
    text = boss.get("/admin/quality/grade/", {"pool": "other-task"}).text
    assert there.pseudonym in text
    assert here.pseudonym not in text
    text = boss.get("/admin/quality/grade/", {"q": here.pseudonym[:6].upper()}).text
    assert here.pseudonym in text
    assert (
        "No matching worker has answered"
        in boss.get("/admin/quality/grade/", {"q": "%"}).text
    )
    assert boss.get("/admin/quality/grade/", {"p": 2}).status_code == 404
    # a long one begins with the newest task
    monkeypatch.setattr(admin, "COUNTED", 1)
    text = boss.get("/admin/quality/grade/").text
    assert there.pseudonym in text
    assert here.pseudonym not in text
    assert "the newest</option>" in text
    text = boss.get("/admin/quality/grade/", {"q": here.pseudonym}).text
    assert here.pseudonym in text


def test_the_list_takes_the_same_few_queries(
    boss, asked, django_assert_max_num_queries
):
    for _ in range(12):
        asked(make_worker(), POSITIVE="r", NEGATIVE="w")
    with django_assert_max_num_queries(13):
        boss.get("/admin/quality/grade/")


def test_lists_without_workers_and_simulated_workers_say_so(
    boss, without_decoys, asked
):
    assert "No worker has answered yet" in boss.get("/admin/quality/grade/").text
    worker = make_worker(simulated=True)
    asked(worker, POSITIVE="r")
    assert "(simulated)" in boss.get("/admin/quality/grade/").text
    page = boss.get(f"/admin/quality/grade/worker/{worker.pk}/").text
    assert "A program gave these answers" in page


def test_a_workers_page_shows_answer_by_answer(boss, asked):
    worker = make_worker()
    asked(worker, POSITIVE="w")
    ban = services.ban(worker, POOL, by=None, reason="1 of 9 <right>.")
    page = f"/admin/quality/grade/worker/{worker.pk}/"
    sam = signed_in(make_user("sam", is_staff=True))
    assert sam.get(page).status_code == 403
    text = boss.get(page).text
    assert "overall: 0.25" in text
    assert "wrong" in text
    assert "1 of 9 &lt;right&gt;." in text
    assert "the detector" in text
    assert f"/admin/quality/ban/{ban.pk}/lift/" in text
    assert boss.get("/admin/quality/grade/worker/99999/").status_code == 404


@pytest.mark.every_engine
def test_a_ban_needs_a_reason_and_keeps_it(boss, asked, ada):
    worker = make_worker()
    asked(worker, NEGATIVE="wwww")
    path = f"/admin/quality/ban/impose/{worker.pk}/?pool={POOL}"
    assert "This field is required." in confirmed(boss, path, reason=" ").text
    assert not Ban.own.exists()
    confirmed(boss, path, reason="Answers in two seconds.")
    ban = Ban.own.get()
    assert (ban.worker, ban.pool_id, ban.created_by) == (worker, POOL, ada)
    assert ban.reason == "Answers in two seconds."
    assert Exclusion.own.filter(worker=worker, pool=POOL).exists()
    logged = LogEntry.objects.get(object_id=str(ban.pk))
    assert logged.get_change_message() == "Banned: Answers in two seconds."
    assert not Assignment.objects.filter(worker=worker, replaced_at=None).exists()
    assert "is already banned from tidy-news" in confirmed(boss, path, reason="X.").text
    assert Ban.own.get().reason == "Answers in two seconds."


def test_a_ban_is_from_a_pool_that_exists(boss, campaign):
    for pool in ("", "no-such-pool"):
        path = f"/admin/quality/ban/impose/{make_worker().pk}/?pool={pool}"
        assert boss.get(path).status_code == 404


def test_lifting_needs_a_reason_and_lets_the_worker_back_in(boss, asked, ada):
    worker = make_worker()
    asked(worker, NEGATIVE="w")
    ban = services.ban(worker, POOL, by=None, reason="Noisy.")
    path = f"/admin/quality/ban/{ban.pk}/lift/"
    confirmed(boss, path, reason="")
    ban.refresh_from_db()
    assert ban.lifted_at is None
    confirmed(boss, path, reason="The questions were wrong.")
    ban.refresh_from_db()
    assert ban.lifted_by == ada
    assert ban.lifted_reason == "The questions were wrong."
    assert not Exclusion.own.exists()
    logged = LogEntry.objects.get(object_id=str(ban.pk))
    assert logged.get_change_message() == "Ban lifted: The questions were wrong."
