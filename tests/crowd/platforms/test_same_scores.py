"""The same answers give the same scores, wherever the people were asked."""

import io
import json

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction

from crowd.campaigns.services import work
from crowd.elsewhere.services import sync
from crowd.models import (
    HIT,
    Assignment,
    Campaign,
    ExternalCampaign,
    LedgerEntry,
    OutwardCall,
    Worker,
    WorkerAlias,
)
from crowd.workers.services import invitations
from crowd.workers.services.invitations import register_worker
from genie.lib import jobs
from genie.lib.seeds import seed_from
from leaderboard.designs.base import content_key
from leaderboard.evaluation import decide
from leaderboard.evaluation.run import advance
from leaderboard.models import Instance, Score, Submission, Task
from leaderboard.submissions.services import submit
from leaderboard.tasks.services import load
from quality.bans.selectors import clean_ratings
from quality.models import Ban
from tests.crowd.platforms.turk_world import TurkWorld
from tests.factories import asked_about

WORKERS = ["Wanda", "Wilma", "Wolf"]
CARELESS = "Wolf"
RAW = ["0", "0.25", "0.5", "0.75", "1"]
PHASES = 6


def settle():
    advance()
    jobs.drain()


def opinion(who, hit):
    item = hit.items.get()
    rows = {content_key("demo-qa", r.instance_id): r for r in Instance.own}
    right = item.data["prediction"] in rows[item.content_key].references
    if who == CARELESS:
        return "0" if right else "1"
    wobble = seed_from("wobble", who, hit.position) % 5 == 0
    return RAW[(3 if wobble else 4) if right else (1 if wobble else 0)]


def approved(platform, n=30):
    """Hand a system in and approve it; half of its answers are another question's."""
    task = load.load_task("demo-qa").task
    human = {**task.config["human"], "platform": platform, "sample_size": n}
    human |= {"positive_share": 0.25, "negative_share": 0.25}
    human["test_questions"] = "references"
    # METEOR would keep WordNet in memory for the rest of the run.
    few = {"use": ["sacrebleu"], "headline": ["sacrebleu"]}
    config = {**task.config, "human": human, "metrics": few}
    Task.objects.filter(pk=task.pk).update(config=config)
    task.refresh_from_db()
    sam = get_user_model().objects.create_user("sam")
    rows = list(task.instances.all())
    texts = {
        row.instance_id: (row if n % 2 else rows[n - 1]).references[0]
        for n, row in enumerate(rows)
    }
    submission = submit.receive(
        task=task,
        owner=sam,
        team=submit.team_for(sam),
        system_name="System",
        file=io.BytesIO(json.dumps(texts).encode()),
        file_name="predictions.json",
    )
    jobs.drain()
    boss = get_user_model().objects.create_superuser("boss")
    decide.approve(asked_about(submission), by=boss, start_now=True)
    settle()
    return submission


def on_our_pages():
    """Let everybody take turns; give who answered what, phase by phase."""
    workers = {}
    for name in WORKERS:
        workers[name] = register_worker(platform_worker_id=name)
        invitations.give_consent(workers[name], "demo-qa")
    phases = []
    for _ in range(PHASES):
        done = []
        active = list(WORKERS)
        while active:
            # Every other piece of work is done by the same careless person.
            wanted = CARELESS if len(done) % 2 else WORKERS[len(done) // 2 % 2]
            who = wanted if wanted in active else active[0]
            assignment = work.next_assignment(workers[who])
            if assignment is None:
                active.remove(who)
                continue
            hit = HIT.objects.get(pk=assignment.hit_id)
            answers = {hit.items.get().key: {"overall": opinion(who, hit)}}
            work.submit(assignment, answers)
            done.append((hit.position, who))
        settle()
        if not done:
            return phases
        phases.append(done)
    raise AssertionError("People are still being asked.")


def on_mechanical_turk(turk, phases):
    look()
    for done in phases:
        for position, who in done:
            hit = HIT.own.get(position=position)
            fields = [("answer-0-0", opinion(who, hit))]
            assert turk.do(hit.platform_hit_id, who, fields), (position, who)
        look()
        settle()
        look()
    settle()


def look():
    ExternalCampaign.own.update(synced_at=None)
    sync.enqueue_due()
    jobs.drain()


def scores():
    fields = [field.name for field in Score._meta.concrete_fields]
    own = {"id", "submission", "evaluation", "created_at", "ratings_sha256"}
    return list(
        Score.own.order_by("criterion").values(*[f for f in fields if f not in own])
    )


def ratings():
    """List what counts, with the people's own names, in the order of the rows."""
    campaign = Campaign.own.get()
    table = clean_ratings(campaign)
    keys = dict(campaign.items.values_list("pk", "key"))
    names = dict(Worker.own.values_list("pk", "platform_worker_id"))
    aliases = {
        one.customer_id: one.worker.platform_worker_id for one in WorkerAlias.own.all()
    }
    return sorted(
        (keys[row.item], aliases.get(names[row.worker], names[row.worker]), row.value)
        for row in table.itertuples()
    )


@pytest.mark.slow
def test_the_scores_are_those_of_our_own_site(live_server, transactional_db, settings):
    # Three workers are too few for the default to exclude anybody.
    settings.GENIE = {**settings.GENIE, "DETECTOR": "rate-guarded-2"}
    # Undone, so that numbers start at 1 both times: the draws are made from the
    # campaign's key.
    with transaction.atomic():
        approved("selfhosted", 12)
        phases = on_our_pages()
        here, ratings_here = scores(), ratings()
        assert Submission.own.get().state == "PUBLISHED"
        banned = Ban.own.get().worker.platform_worker_id
        assert banned == CARELESS
        assert len(phases) >= 2
        n_answers = Assignment.own.count()
        transaction.set_rollback(True)
    staff = get_user_model().objects.create_superuser("petra", password="-")
    turk = TurkWorld(f"{live_server.url}/turk/", staff)
    settings.GENIE = {**settings.GENIE, "PLATFORMS": {"mturk": turk.options}}
    approved("mturk", 12)
    on_mechanical_turk(turk, phases)
    assert Submission.own.get().state == "PUBLISHED"
    assert scores() == here
    assert ratings() == ratings_here
    # some outputs are rated twice
    assert here[0]["n"] == len({key for key, *_ in ratings_here}) == 12
    assert Assignment.own.count() == n_answers
    assert not OutwardCall.own.exclude(state="DONE").exists()
    # And everybody is paid there in the end, the fee included.
    Assignment.own.filter(state="SUBMITTED").update(state="APPROVED")
    look()
    paid = LedgerEntry.own.filter(state="DONE").values_list("amount_cents", flat=True)
    assert sum(paid) == turk.charged_cents() > 0
