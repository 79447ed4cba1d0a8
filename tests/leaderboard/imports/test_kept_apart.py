"""Imported work is nobody's here: not paid, not offered, not asked again."""

from collections import Counter

import pytest
from django.contrib.admin import site
from django.contrib.auth.models import Permission

from crowd.campaigns.services import work_records
from crowd.campaigns.services.add_money import add_money
from crowd.campaigns.services.run import reopen
from crowd.messages.services import send, send_many
from crowd.models import HIT, Assignment, Campaign, LedgerEntry, Message, Worker
from crowd.money.models import Budget, Commitment
from crowd.money.selectors.fair_pay import shortfall
from crowd.money.services import bonuses
from crowd.workers.selectors.eligible import open_campaigns
from genie.lib.errors import GenieError
from leaderboard.evaluation import rescoring, run
from leaderboard.evaluation.services import joint
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.imports.services.take_back import take_back
from leaderboard.metric_board.views.downloads import WRITERS
from leaderboard.models import HumanEvaluation, JointEvaluation, Score, Submission, Task
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from quality.bans.services import ban
from quality.detection.models import DetectorFit
from tests.factories import make_user
from tests.kept import kept
from tests.leaderboard.imports.test_bring_in import ratings


@pytest.fixture
def staff():
    return make_user("importer", is_staff=True, is_superuser=True)


@pytest.fixture
def task(staff):
    rows = ratings(n=12, at=1_790_000_000.0, seconds=30.0)
    return kept("imported", lambda: bring_in(rows, slug="elsewhere", by=staff).task)


def test_no_money_is_behind_it_and_none_can_be_put_there(without_decoys, task, staff):
    campaign = Campaign.objects.filter(pool=task.slug).first()
    assignment = Assignment.objects.filter(hit__campaign=campaign).first()
    with pytest.raises(GenieError, match="imported"):
        bonuses.give(assignment.pk, 50, key="k", reason="Thanks.", by=staff)
    with pytest.raises(GenieError, match="imported"):
        add_money(campaign.pk, 500, budget_cents=0, by=staff, reason="More.")
    assert not LedgerEntry.own.exists()
    assert not Commitment.own.exists()
    assert not Budget.own.exists()


def test_nobody_is_offered_it_and_its_workers_are_offered_nothing(task):
    here = Worker.objects.create(platform_worker_id="anna")
    assert not open_campaigns(here)
    assert not HIT.own.filter(n_available__gt=0).exists()
    for worker in Worker.own.filter(platform="imported"):
        assert worker.excluded
        assert worker.user is None
        assert not open_campaigns(worker)
    work_records.renew({})


def test_the_queue_leaves_it_alone(task, staff):
    assert run.advance() == 0
    worker = Worker.own.filter(platform="imported").first()
    ban(worker, task.slug, by=staff, reason="Their publishers say so.")
    assert not Message.own.exists()
    assert reopen(Campaign.objects.filter(pool=task.slug).first().pk) == 0
    run.advance()
    # what counts has changed, and is scored again as everywhere
    assert rescoring.rescore(task.pk) == 3
    assert not HIT.own.filter(n_available__gt=0).exists()
    assert not DetectorFit.own.exists()
    assert not LedgerEntry.own.exists()


def test_nobody_can_be_asked_about_its_systems(task, staff):
    systems = list(task.submissions.all())
    with pytest.raises(GenieError, match="you cannot add systems here"):
        joint.request(systems, by=staff)
    assert not task.accepts_submissions


def test_a_planted_score_reaches_no_board(staff):
    rows = ratings(n=12)
    plain = bring_in(rows, slug="plain", by=staff).task
    more = ratings(n=12)
    planted = more.rows.assign(role="planted", value=0.0)
    import pandas as pd

    more.rows = pd.concat([more.rows, planted], ignore_index=True)
    both = bring_in(more, slug="planted", by=staff).task
    means = [
        {
            one.submission.system_name: round(one.mean, 6)
            for one in Score.objects.filter(submission__task=of, superseded_at=None)
        }
        for of in (plain, both)
    ]
    assert means[0] == means[1]


def test_a_second_wave_adds_and_taking_it_back_restores(task, staff):
    before = dict(task.submissions.values_list("system_name", "scores__n").distinct())
    wave = ratings(n=8, seed=9, systems=("red", "blue", "violet"))
    wave.rows["instance"] = "more-" + wave.rows["instance"]
    row = bring_in(wave, slug=task.slug, by=staff)
    current = Score.own.filter(superseded_at=None)
    assert {s.submission.system_name: s.n for s in current} == {
        "red": 20,
        "blue": 20,
        "green": 12,
        "violet": 8,
    }
    assert Worker.own.filter(platform="imported").count() == 4
    assert take_back(row)
    after = {s.submission.system_name: s.n for s in current.all()}
    assert after == before == {"red": 12, "blue": 12, "green": 12}
    assert not take_back(task.imports.get())
    assert not Task.own.exists()
    assert not Submission.own.exists()
    assert not HumanEvaluation.own.exists()
    assert not Worker.own.exists()


def test_a_release_of_it_is_rebuilt(staff, tmp_path):
    rows = ratings(n=16)
    rows.rows["page"] = "page-" + rows.rows["instance"]
    task = bring_in(rows, slug="elsewhere", by=staff).task
    assert JointEvaluation.objects.exists()
    make(task, tmp_path / "release")
    rebuilt = rebuild(tmp_path / "release")
    assert rebuilt.n_same["estimates"]
    assert rebuilt.n_same["joint evaluations"]


def test_its_files_can_be_downloaded(client, staff):
    rows = ratings(n=12, systems=("=cmd()", "blue"))
    task = bring_in(rows, slug="elsewhere", by=staff).task
    lines = {}
    for name in WRITERS:
        answered = client.get(f"/tasks/{task.slug}/metrics/files/{name}")
        if answered.streaming:
            lines[name] = b"".join(answered.streaming_content).decode().splitlines()
    _header, *rated = lines["judgments.csv"]
    assert len(rated) == 24
    # no spreadsheet takes a system for a formula
    assert {line.split(",")[0] for line in rated} == {"'=cmd()", "blue"}


def test_nobody_is_told_anything_or_owed_anything(task, client, staff):
    client.force_login(staff)
    for campaign in Campaign.objects.filter(pool=task.slug):
        assert shortfall(campaign) is None
    worker = Worker.own.filter(platform="imported").first()
    send(worker, Message.Kind.STAFF, "Hello", "Are you there?")
    send_many([Message(worker=worker, kind=Message.Kind.STAFF, subject="a", text="b")])
    assert not Message.own.exists()
    pk = task.submissions.first().pk
    assert client.get(f"/submissions/{pk}/file/").status_code == 404


def test_staff_see_imported_people_as_imported_and_not_as_excluded(
    without_decoys, task, client
):
    staff = make_user("reader", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_worker"))
    client.force_login(staff)
    for name, excluded in (("careful", False), ("careless", True)):
        worker = Worker.objects.create(
            platform="site", platform_worker_id=name, excluded=excluded
        )
        shown = client.get(f"/admin/crowd/worker/{worker.pk}/change/").text
        assert ("field-without_work" in shown, "icon-yes" in shown) == (True, False)
    listed = "/admin/crowd/worker/"
    assert len(client.get(listed).context["cl"].result_list) == 2
    rows = client.get(listed, {"imported": "too"}).context["cl"].result_list
    admin = site.get_model_admin(Worker)
    states = [(one.platform, admin.without_work(one)) for one in rows]
    assert Counter(states) == {
        ("imported", "imported"): len(rows) - 2,
        ("site", "no"): 1,
        ("site", "yes"): 1,
    }
    assert len(rows) > 3
