"""Campaigns and workers for tests, made by the services themselves."""

import re
from datetime import timedelta
from html import unescape
from itertools import count

import pytest
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.campaigns.services.work import next_assignment, submit
from crowd.hits.services.build import HITTypeSpec, ItemSpec, build_campaign
from crowd.models import Campaign, Exclusion, Pause, Pool, Worker
from crowd.workers.services import invitations
from crowd.workers.services.invitations import register_worker
from genie.lib.errors import GenieError
from quality.models import Ban

POOL = "weather-reports"
_number = count(1)


def hit_type(**fields) -> HITTypeSpec:
    return HITTypeSpec(
        **{
            "template": "question-answering",
            "scale": "likert-5",
            "criteria": {"overall": "This is a reasonable answer."},
            "title": "Judge answers",
            "description": "Read and say what you think.",
            "keywords": "text",
            "reward_cents": 10,
            "assignment_seconds": 1800,
            **fields,
        }
    )


def item(key, *, content_key=None, text="A short answer.", question="What is it?"):
    return ItemSpec(
        key=key,
        data={
            "fields": [{"label": "Question", "text": question, "lang": "en"}],
            "prediction": text,
            "lang": "en",
        },
        content_key=content_key or f"about-{key}",
    )


def items(n, prefix=""):
    """Items whose inputs are the same whatever the prefix."""
    return [
        item(f"{prefix}item-{i}", content_key=f"input-{i}", text=f"Answer number {i}.")
        for i in range(n)
    ]


def make_campaign(n=3, *, running=True, of=None, **fields) -> Campaign:
    number = next(_number)
    what = of if of is not None else items(n)
    kind = fields.pop("hit_type", None) or hit_type()
    make_pools(fields.get("pool", POOL))
    campaign = build_campaign(
        **{
            "key": f"campaign-{number}",
            "pool": POOL,
            "title": "Weather reports",
            "hit_type": kind,
            "items": what,
            "budget_cents": 1_000_000,
            "seed": 7,
            "starts_at": timezone.now() - timedelta(minutes=1),
            **fields,
        }
    )
    if running:
        run.start_due()
        campaign.refresh_from_db()
    return campaign


def make_pools(*slugs):
    Pool.objects.bulk_create([Pool(slug) for slug in slugs], ignore_conflicts=True)


def make_worker(*pools, simulated=False, user=None, agreed=True) -> Worker:
    worker = register_worker(
        platform_worker_id=f"worker-{next(_number)}", simulated=simulated, user=user
    )
    make_pools(*pools, POOL, "elsewhere", "other", "third")
    if agreed:
        for pool in pools or (POOL,):
            invitations.give_consent(worker, pool)
    if not simulated:
        refuse_elsewhere(worker)
    return worker


def refuse_elsewhere(worker):
    """Keep the worker from another kind of work, which must change nothing here."""
    kept = {"pk": -1_000_000 - worker.pk, "worker": worker, "pool_id": "elsewhere"}
    for model in (Exclusion, Pause, Ban):
        model.objects.create(**kept)


def answers_for(assignment, raw="0.75"):
    criteria = assignment.hit.campaign.hit_type.criteria
    return {one.key: dict.fromkeys(criteria, raw) for one in assignment.hit.items.all()}


def send_in(assignment, raw="0.75", **fields):
    return submit(assignment, answers_for(assignment, raw), **fields)


def do_one(worker, raw="0.75", **fields):
    """Let the worker do the next HIT; None when there is none for them."""
    assignment = next_assignment(worker)
    return None if assignment is None else send_in(assignment, raw, **fields)


def do_all(worker, raw="0.75", **fields):
    done = []
    while (assignment := do_one(worker, raw, **fields)) is not None:
        done.append(assignment)
    return done


def text_of(response):
    return unescape(re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", response.text)))


def refused(code, call, *args, **fields):
    with pytest.raises(GenieError) as refusal:
        call(*args, **fields)
    assert refusal.value.code == code
