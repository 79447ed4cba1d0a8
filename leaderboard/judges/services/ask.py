"""Making a run: which outputs a judge is asked about, and what that will cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product
from typing import Any

from django.db import transaction

from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.judges.definition import PAIRWISE
from leaderboard.judges.models import (
    Judge,
    JudgeAnswer,
    JudgeCall,
    JudgeRun,
    JudgeSheet,
)
from leaderboard.judges.selectors.money import in_cents
from leaderboard.judges.selectors.requests import (
    Request,
    all_requests,
    human_of,
    requests_of,
    sendable,
)
from leaderboard.judges.selectors.sheets import items_of, task_like
from leaderboard.submissions.models.submission import Prediction
from leaderboard.tasks.models import Instance, Task

# One run's questions; more are several runs.
MOST_CALLS = 200_000
_AT_ONCE = 500


@dataclass(frozen=True)
class Wish:
    """What a judge is to be asked about; empty: what people are asked about."""

    criteria: Sequence[str] = ()
    submissions: Sequence[int] = ()
    n_instances: int | None = None
    # texts that nobody outside has seen, and that go out only if approval says so, too
    with_references: bool = False
    with_private: bool = False
    # asks again what was answered before
    occasion: str = ""
    # how often each question of a draft is asked; 0: as the judge's definition says
    repeats: int = 0


def ask(judge: Judge, task: Task, wish: Wish, *, by: Account | None = None) -> JudgeRun:
    """Make a run with its price; nothing is sent before a person approves it.

    Raises
    ------
    GenieError
        Where the judge cannot be asked so, or about these.
    """
    criteria = _criteria(judge, task, wish)
    systems, instances = _systems(task, wish), _instances(task, wish)
    with transaction.atomic():
        run = JudgeRun.objects.create(
            judge=judge,
            task=task,
            plan={
                "criteria": criteria,
                "submissions": systems,
                "instances": [instance.instance_id for instance in instances],
            },
            with_references=wish.with_references and task.hidden_references,
            with_private=wish.with_private,
            occasion=wish.occasion,
            asked_by_id=by.pk if by else None,
        )
        there, slots = _there(systems, instances), _slots(judge, systems)
        _price(
            run,
            len(instances) * len(slots),
            (
                {"instance": instance, "submission_id": one, "other_id": other}
                for instance in instances
                for one, other in slots
                if {(one, instance.pk), (other or one, instance.pk)} <= there
            ),
        )
    return run


def ask_sheet(
    judge: Judge, sheet: JudgeSheet, wish: Wish, *, by: Account | None = None
) -> JudgeRun:
    """Do so about a draft: all of its items and systems, which nobody outside has seen.

    Raises
    ------
    GenieError
        As `ask` does.
    """
    task = task_like(sheet)
    items, systems = items_of(sheet), list(range(1, len(sheet.content["systems"]) + 1))
    with transaction.atomic():
        run = JudgeRun.objects.create(
            judge=judge,
            sheet=sheet,
            plan={
                "criteria": _criteria(judge, task, wish),
                "submissions": systems,
                "instances": [one.instance_id for one in items.values()],
                "repeats": wish.repeats or judge.definition["k"],
            },
            with_references=wish.with_references and task.hidden_references,
            with_private=not judge.scripted,
            asked_by_id=by.pk if by else None,
        )
        slots = _slots(judge, systems)
        _price(
            run,
            len(items) * len(slots),
            (
                {"item": item, "system": one, "rival": other or 0}
                for item in items
                for one, other in slots
            ),
        )
    return run


def _criteria(judge: Judge, task: Task, wish: Wish) -> list[str]:
    if judge.retired_at is not None:
        raise GenieError(f"{judge} is retired.", code="judge-retired")
    human = human_of(judge, task)
    criteria = list(wish.criteria) or list(human.criteria)
    if unknown := sorted({*criteria} - {*human.criteria}):
        raise GenieError(
            f"{task.title} does not ask about {unknown[0]!r}, but about: "
            f"{', '.join(human.criteria)}.",
            code="unknown-criterion",
        )
    return criteria


def _systems(task: Task, wish: Wish) -> list[int]:
    allowed = sendable(
        task, references=wish.with_references, private=wish.with_private
    ).order_by("pk")
    found = list(allowed.values_list("pk", flat=True))
    if wish.submissions:
        if missing := sorted({*wish.submissions} - {*found}):
            raise GenieError(
                f"Submission {missing[0]} is not one of {task.title} whose outputs may "
                "leave: it is private, made of hidden references, or not there.",
                code="may-not-leave",
            )
        found = [pk for pk in found if pk in set(wish.submissions)]
    if not found:
        raise GenieError(
            f"{task.title} has no outputs that may leave.", code="nothing-to-judge"
        )
    return found


def _instances(task: Task, wish: Wish) -> list[Instance]:
    """Give the instances that people judge, or the first so many of all."""
    n = task.sample_size if wish.n_instances is None else wish.n_instances
    return list(task.instances.filter(sample_rank__lt=n).order_by("position"))


def _slots(judge: Judge, systems: list[int]) -> list[tuple[int, int | None]]:
    if judge.definition["mode"] == PAIRWISE:
        return list(permutations(systems, 2))  # both orders of each
    return [(pk, None) for pk in systems]


def _price(run: JudgeRun, most: int, asked: Iterable[dict[str, Any]]) -> None:
    """Write each question for each part and repeat, and what all of that may cost."""
    n_parts = len(requests_of(run).parts)
    k = int(run.plan.get("repeats") or run.judge.definition["k"])
    n = most * n_parts * k
    if not n or n > MOST_CALLS:
        raise GenieError(
            f"That would be {n:,} questions; a run has 1 to {MOST_CALLS:,}.",
            code="bad-size",
        )
    calls = [
        JudgeCall(run=run, part=part, sample=sample, **about)
        for about in asked
        for part, sample in product(range(n_parts), range(k))
    ]
    JudgeCall.objects.bulk_create(calls, batch_size=2_000)
    run.n_calls = len(calls)
    _put_price(run)
    run.save()


def _there(systems: list[int], instances: list[Instance]) -> set[tuple[int, int]]:
    rows = Prediction.objects.filter(
        submission__in=systems, instance__in=[one.pk for one in instances]
    )
    return set(rows.values_list("submission_id", "instance_id"))


def _put_price(run: JudgeRun) -> None:
    """Price what has no answer yet: expected, and at most if every answer is valid."""
    expected = most = 0
    for some in _chunks(all_requests(run)):
        known = JudgeAnswer.objects.filter(request_sha256__in=list(some))
        answered = set(known.values_list("request_sha256", flat=True))
        new = [request for sha256, request in some.items() if sha256 not in answered]
        expected += sum(request.expected for request in new)
        most += sum(request.most for request in new)
    run.expected_cents, run.most_cents = in_cents(expected), in_cents(most)


def _chunks(requests: Iterable[Request]) -> Iterable[dict[str, Request]]:
    requests = iter(requests)
    while some := list(islice(requests, _AT_ONCE)):
        # systems that say the same are asked about once
        yield {request.sha256: request for request in some}
