"""Sandboxes: a requester's HITs done by simulated workers, without money or people.

A sandbox is a requester of its own, with keys, HITs, batches and layouts like any other.
Real workers are never shown its work (`offers`, `turns.known_as`), nothing of it is booked
(`money`), and what is approved in it counts as paid, so that nobody pays for it.
"""

from __future__ import annotations

from typing import Any

from crowd.requester.models.account import Requester, RequesterAssignment, RequesterHIT
from crowd.requester.protocol import clock
from crowd.requester.questions.questions import Question, read_question
from crowd.requester.questions.simulated import answer_to
from crowd.requester.selectors.hit_status import counted, kept_hits, n_free
from crowd.requester.services import turns
from crowd.requester.services.settle import settle
from crowd.workers.models.worker import Worker
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from

PLATFORM = "sandbox"
# The most simulated workers that there are, and answers and HITs at a time.
WORKERS = 25
ANSWERS = 100
LOOKED_AT = 500


def of(requester: Requester) -> Requester:
    """Give a requester's sandbox, which is made when it is first asked for."""
    name = f"Sandbox of {requester.customer_id}"
    return Requester.objects.get_or_create(
        sandbox_of=requester, defaults={"name": name}
    )[0]


def work(sandbox: Requester, most: int = ANSWERS) -> int:
    """Let simulated workers do what is open; return how many answers they gave.

    Pages of other servers (ExternalQuestion) stay undone: what a worker would do there
    is known to that server only.
    """
    now = clock.now()
    settle(sandbox, now)
    live = kept_hits(sandbox, now).filter(announced=False, expires_at__gt=now)
    n = 0
    for hit in counted(live, now).order_by("pk")[:LOOKED_AT]:
        wanted = min(n_free(hit), most - n)
        if wanted > 0 and (question := read_question(hit.question)).kind != "external":
            n += _do(sandbox, hit, question, wanted)
    return n


def _do(sandbox: Requester, hit: Any, question: Question, wanted: int) -> int:
    """Let as many do one HIT as are wanted and have its requester's qualifications."""
    n = 0
    for worker in _crowd(sandbox, hit):
        if n == wanted:
            break
        try:
            assignment = turns.accept(hit, worker)
        except GenieError:
            continue  # somebody else may have what it requires
        rng = generator(seed_from("sandbox", hit.entity_id, worker.pk))
        turns.send_in(assignment, worker, answer_to(question, rng))
        n += 1
    return n


def _crowd(sandbox: Requester, hit: RequesterHIT) -> list[Worker]:
    """Give the simulated workers who have not done a HIT; they are made when missing."""
    names = [f"{sandbox.pk}-{number}" for number in range(1, WORKERS + 1)]
    crowd = Worker.objects.filter(platform=PLATFORM, platform_worker_id__in=names)
    if crowd.count() < WORKERS:
        made = [
            Worker(platform=PLATFORM, platform_worker_id=name, simulated=True)
            for name in names
        ]
        Worker.objects.bulk_create(made, ignore_conflicts=True)
    had = RequesterAssignment.objects.filter(hit=hit).values("worker__worker")
    return list(crowd.exclude(pk__in=had).order_by("pk"))
