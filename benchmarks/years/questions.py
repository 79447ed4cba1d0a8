"""What is asked of the site, by name; each can be asked again and changes nothing."""

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.years.size import Size, slug

Question = Callable[[], Any]


def of(size: Size) -> Iterator[tuple[str, Question]]:
    """Give every question; those of one kind follow each other."""
    yield from _of_workers(size)
    yield from _of_visitors(size)
    yield from _of_staff(size)
    yield from _of_programs(size)
    yield from _of_jobs()


def _undone(call: Question) -> Question:
    from django.db import transaction

    def ask() -> None:
        with transaction.atomic():
            call()
            transaction.set_rollback(True)

    return ask


def _page(client: Any, path: str) -> Question:
    def ask() -> None:
        answer = client.get(path)
        assert answer.status_code == 200, (path, answer.status_code)

    return ask


def _of_workers(size: Size) -> Iterator[tuple[str, Question]]:
    from django.contrib.auth import get_user_model
    from django.test import Client

    from crowd.campaigns.services.work import next_assignment
    from crowd.models import Worker
    from crowd.workers.services.invitations import give_consent, register_worker

    user = get_user_model().objects.create(username="known")
    known = Worker.objects.get(pk=1)
    known.user = user
    known.save()
    new = register_worker(
        platform_worker_id="new",
        user=get_user_model().objects.create(username="new"),
    )
    for name, worker in (("known", known), ("new", new)):
        for task in range(size.tasks):
            give_consent(worker, slug(task))
        client = Client()
        client.force_login(worker.user)
        yield f"worker's home, {name}", _page(client, "/work/")
        yield (
            f"next HIT, {name}",
            _undone(lambda worker=worker: next_assignment(worker)),
        )
        yield (
            f"next HIT of one pool, {name}",
            _undone(lambda worker=worker: next_assignment(worker, slug(0))),
        )


def _of_visitors(size: Size) -> Iterator[tuple[str, Question]]:
    from django.test import Client

    from genie.lib.serving.caches import computed
    from leaderboard.models import SubmissionEvent

    client = Client()
    pages = {
        "board": f"/tasks/{slug(0)}/",
        "API's board": f"/api/v1/tasks/{slug(0)}/leaderboard/",
        "front page": "/",
        "tasks": "/tasks/",
    }

    def elsewhere() -> None:
        answer_of(size, size.tasks - 1)

    def here() -> None:
        SubmissionEvent.objects.create(
            submission_id=1, state="PUBLISHED", sentence="It changed."
        )

    for name, path in pages.items():
        page = _page(client, path)

        def cold(page: Question = page) -> None:
            computed.clear()
            page()

        yield f"{name}, in a new process", cold
        yield name, page
        if path.startswith("/tasks/years"):
            yield f"{name}, an answer elsewhere before", _after(elsewhere, page)
            yield f"{name}, after a change of its own", _after(here, page)


def _after(change: Question, page: Question) -> Question:
    page.before = change  # type: ignore[attr-defined]

    def ask() -> None:
        page()

    ask.before = change  # type: ignore[attr-defined]
    return ask


def answer_of(size: Size, task: int) -> None:
    """Let somebody answer one more HIT of a task."""
    from django.utils import timezone

    from crowd.models import HIT, Assignment, Rating

    hit = (
        HIT.objects.filter(campaign__pool=slug(task), n_available__gt=0)
        .order_by("-pk")
        .first()
    )
    now = timezone.now()
    assert hit is not None
    done = Assignment.objects.filter(hit=hit).count()
    work = Assignment.objects.create(
        hit=hit,
        worker_id=task * size.crowd + done + 1,
        state="SUBMITTED",
        reward_cents=9,
        accepted_at=now,
        deadline_at=now,
        submitted_at=now,
    )
    HIT.objects.filter(pk=hit.pk).update(n_available=hit.n_available - 1)
    Rating.objects.create(
        assignment=work, item_id=hit.pk, criterion="overall", value=1, raw="5"
    )


def _of_staff(size: Size) -> Iterator[tuple[str, Question]]:
    from django.contrib.auth import get_user_model
    from django.test import Client

    client = Client()
    client.force_login(get_user_model().objects.get(username="staff"))
    for model in ("assignment", "ledgerentry", "worker", "hit", "campaign"):
        yield f"admin: {model}s", _page(client, f"/admin/crowd/{model}/")
    yield "admin: submissions", _page(client, "/admin/leaderboard/submission/")
    yield "admin: verdicts", _page(client, "/admin/quality/verdict/")
    searched = {
        "worker": f"w-{size.crowd // 2:010x}",
        "assignment": f"w-{size.crowd // 2:010x}",
        "ledgerentry": "System 1",
        "campaign": "System 1",
    }
    for model, word in searched.items():
        path = f"/admin/crowd/{model}/?q={word.replace(' ', '+')}"
        yield f"admin: search of {model}s", _page(client, path)


def _of_programs(size: Size) -> Iterator[tuple[str, Question]]:
    from crowd.models import Requester
    from crowd.requester import operations
    from crowd.requester.protocol import clock
    from crowd.requester.protocol.call import HANDLERS, Call
    from crowd.requester.services.settle import settle

    assert operations.__all__
    requester = Requester.objects.get(pk=1)

    def call(name: str, **arguments: Any) -> Question:
        def ask() -> Any:
            now = clock.now()
            settle(requester, now)
            locked = Requester.objects.select_for_update().get(pk=requester.pk)
            return HANDLERS[name](Call(locked, name, now), arguments)

        return _undone(ask)

    schemas = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
    question = (
        f'<HTMLQuestion xmlns="{schemas}2011-11-11/HTMLQuestion.xsd"><HTMLContent>'
        "<![CDATA[<form></form>]]></HTMLContent><FrameHeight>4</FrameHeight>"
        "</HTMLQuestion>"
    )
    from crowd.models import RequesterHITType

    kind = RequesterHITType.objects.get(pk=1).entity_id
    yield (
        "/turk/ CreateHITWithHITType",
        call(
            "CreateHITWithHITType",
            HITTypeId=kind,
            Question=question,
            LifetimeInSeconds=600,
        ),
    )
    yield "/turk/ GetAccountBalance", call("GetAccountBalance")
    yield "/turk/ ListHITs", call("ListHITs", MaxResults=100)
    yield "/turk/ ListReviewableHITs", call("ListReviewableHITs", MaxResults=100)
    yield (
        "/turk/ ListReviewableHITs, Reviewing",
        call("ListReviewableHITs", MaxResults=100, Status="Reviewing"),
    )
    yield (
        "/turk/ ApproveAssignment",
        call("ApproveAssignment", AssignmentId=f"3A{size.posted // 8 * 4 + 3:028d}"),
    )


def _of_jobs() -> Iterator[tuple[str, Question]]:
    from crowd.campaigns.services import review, work
    from crowd.jobs import plan_payouts
    from leaderboard.evaluation import run
    from quality.detection.services.judge import judge
    from quality.jobs import renew_work_records
    from quality.models import Grade

    yield "every minute: advance", _undone(run.advance)
    yield "every minute: work that is overdue", _undone(work.release_overdue)
    yield "every hour: approve what waits", _undone(review.approve_waiting)
    yield "every hour: payouts are planned", _undone(plan_payouts)
    yield "every quarter: the pace of work", _undone(renew_work_records)

    def judged() -> None:
        judge(slug(0))

    def grade() -> None:
        row = Grade.objects.filter(pool=slug(0)).earliest("pk")
        Grade.objects.filter(pk=row.pk).update(correct=not row.correct)

    judged_again = _undone(judged)
    judged_again.before = grade  # type: ignore[attr-defined]
    yield "a pool of 1,000 judged after one grade", judged_again
