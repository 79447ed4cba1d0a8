"""The public log on its page and in the API: what is public opens, all else stays sealed."""

import hashlib
import json
from contextlib import nullcontext

import pytest
from django.apps import apps
from django.core.management.sql import emit_post_migrate_signal
from django.db.migrations import Migration
from django.utils import timezone

from crowd.money.services import budgets
from genie.history import log, merkle
from genie.history.models import LogEntry
from genie.lib.errors import GenieError
from genie.upkeep.doctor import examine
from leaderboard import jobs
from leaderboard.evaluation.services import public_log
from leaderboard.evaluation.services.request import create_request
from leaderboard.models import Comparison, HumanEvaluation, Score, Submission
from quality.bans.services import ban
from tests.each import each
from tests.factories import make_ranked, make_task, make_worker


@pytest.fixture
def world(team, submitter, staff):
    """Log a public and a private system's scores, an exclusion and a budget."""
    task = make_task()
    mine = {"team": team, "owner": submitter}
    kite = make_ranked(task, 71.5, system="Kite", **mine)
    make_ranked(task, 80.25, system="Secret", visibility="PRIVATE", **mine)
    public_log.scores(Score.own.order_by("pk"))
    ban(make_worker(name="w-heron"), task.slug, by=staff, reason="Nina is careless")
    budgets.set_limit(task.slug, 7700, by=staff, why="so that it suffices")
    log.number()
    return kite


def test_visitors_read_what_is_public_and_nothing_private(world, client):
    page = client.get("/history/").content.decode()
    assert f"Merkle root <code>{log.head().root}</code>" in page
    assert "71.50 [" in page
    assert "workers counted" in page
    assert f'href="/submissions/{world.pk}/"' in page
    assert f"excluded on {world.task.slug} by a person" in page
    listed = client.get("/api/v1/history/entries/")
    assert listed.json()["count"] == 4
    for text in (page, listed.content.decode()):
        for private in ("80.25", "careless", "w-heron", "cents", "suffices"):
            assert private not in text
    assert page.count("sealed</span>") == 2
    kinds = client.get("/api/v1/history/entries/?kind=ban").json()["results"]
    assert [one["kind"] for one in kinds] == ["ban"]


def test_a_comparison_of_public_systems_is_open(world, client, team, submitter):
    other = make_ranked(world.task, 60, system="Gull", team=team, owner=submitter)
    asked = {"systems": [world, other], "by": submitter.pk, "design": "rankme"}
    pair = create_request(
        model=Comparison, n_instances=20, **asked, a=world, b=other, delta=0.05,
        criterion="overall", rule="beta-mixture", wave_size=10, max_pairs=20,
    )  # fmt: skip
    HumanEvaluation.own.filter(comparison=pair).update(state="DECIDED")
    public_log.result(pair, winner="Kite")
    log.number()
    assert "Kite" in client.get("/api/v1/history/entries/?kind=result").text


def test_what_is_withdrawn_is_sealed_again(world, client):
    Submission.objects.filter(pk=world.pk).update(own_state="WITHDRAWN")
    assert "71.5" not in client.get("/api/v1/history/entries/").content.decode()


def test_every_entry_and_every_earlier_head_can_be_checked(world, client):
    kept = client.get("/api/v1/history/").json()
    assert kept["consistency"] is None
    log.append(log.Kind.RELEASE, {"task": "x"}, about=1)
    log.number()
    now = client.get(f"/api/v1/history/?since={kept['size']}").json()
    path = [bytes.fromhex(one) for one in now["consistency"]]
    roots = bytes.fromhex(kept["root"]), bytes.fromhex(now["root"])
    assert merkle.continues(kept["size"], roots[0], now["size"], roots[1], path)
    for number in range(kept["size"]):
        one = client.get(f"/api/v1/history/entries/{number}/?size=4").json()
        assert one["head"]["root"] == kept["root"]
        proof = [bytes.fromhex(h) for h in one["inclusion"]]
        leaf = merkle.leaf_hash(one["body"].encode())
        assert merkle.includes(leaf, number, 4, proof, roots[0])
        if one["data"] is not None:
            text = bytes.fromhex(one["salt"]) + one["data"].encode()
            made = hashlib.sha256(text).hexdigest()
            assert json.loads(one["body"])["commitment"] == made


@each(
    ("address", "status"),
    [
        ("?since=5", 404),
        ("?since=-1", 400),
        ("entries/9/", 404),
        ("entries/0/?size=3", 404),
        ("entries/99999999999999999999999/", 404),
        ("entries/0/?size=99999999999999999999999", 400),
        ("entries/?kind=gossip", 400),
    ],
)
def test_what_is_not_there_is_refused_in_words(world, client, address, status):
    answer = client.get(f"/api/v1/history/{address}")
    assert answer.status_code == status
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        (lambda pk: Score.own.filter(pk=pk).update(mean=97.53), True),
        (lambda pk: LogEntry.objects.filter(kind="score", about=pk).delete(), True),
        (lambda pk: log.append("score", {"mean": 97.53}, about=pk), True),
        (lambda pk: Score.own.exclude(pk=pk).update(mean=97.53), True),
        (lambda pk: Score.own.filter(pk=pk).update(superseded_at=timezone.now(), mean=97.53), False),
        (lambda pk: None, False),
        (lambda pk: log.append("score", {n: one for n, one in public_log._content(Score.own.get(pk=pk)).items() if one is not None}, about=pk), False),  # before an upgrade
    ],
)  # fmt: skip
def test_current_scores_are_compared_with_their_last_entry(
    world, client, change, differs
):
    score = Score.own.get(submission=world)
    before = dict(examine(slow=True))["scores"].points
    change(score.pk)
    finding = dict(examine(slow=True))["scores"]
    assert (finding.points != before) == differs
    assert finding.verdict == ("problem" if finding.points else "ok")
    with pytest.raises(GenieError) if finding.points else nullcontext():
        jobs.compare_scores()
    page = client.get("/history/").content.decode()
    on_page = f"score {score.pk}" in finding.points
    assert ("differed from their last entry" in page) == on_page
    assert "97.53" not in page or on_page


def test_scores_without_an_entry_are_logged_once_as_found_at_an_upgrade(
    world, monkeypatch
):
    monkeypatch.setattr(Score, "objects", Score.own)
    kept = LogEntry.objects.filter(kind="score", about__gt=0)
    kept.exclude(pk=kept.first().pk).delete()
    for back, n in ((True, 1), (False, Score.own.count()), (False, Score.own.count())):
        plan = [(Migration("0002_more", "leaderboard"), back)]
        emit_post_migrate_signal(0, False, "default", plan=plan, apps=apps)
        assert kept.count() == n
    assert kept.filter(data__contains='"found":"at the upgrade"').count() == n - 1 > 0
    assert dict(examine(slow=True))["scores"].verdict == "ok"


def test_an_empty_log_has_a_page(client):
    assert "No entries yet." in client.get("/history/").content.decode()
    assert client.get("/api/v1/history/?since=0").json()["size"] == 0
