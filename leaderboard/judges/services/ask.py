"""Creation of runs: which outputs a judge is asked about, and the price."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction

from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.judges.models import Judge, JudgeAnswer, JudgeCall, JudgeCost, JudgeRun
from leaderboard.judges.selectors.money import in_cents
from leaderboard.judges.selectors.pages import human_of, pages_of, scale_of
from leaderboard.judges.selectors.requests import (
    Request,
    Requests,
    all_requests,
    requests_of,
    sendable,
)
from leaderboard.stats.judges.injections import probes
from leaderboard.submissions.models import Prediction
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import design_of, has_references

# Token counts reported by endpoints, to estimate prices of further requests.

# Fewer answers are unreliable; more than the last ones add no information.
_ENOUGH, _LAST = 20, 500
_SAME = ("endpoint", "url", "model")


def bytes_a_token(judge: Judge) -> dict[str, Any]:
    """Return a plan's `bytes_a_token` and `n_measured`; empty with too few answers."""
    made = judge.definition
    same = [
        other.pk
        for other in Judge.objects.all()
        if all(other.definition[name] == made[name] for name in _SAME)
    ]
    answers = JudgeAnswer.objects.filter(judge__in=same, input_tokens__gt=0)
    tokens = dict(
        answers.order_by("-pk").values_list("request_sha256", "input_tokens")[:_LAST]
    )
    costs = JudgeCost.objects.filter(
        request_sha256__in=list(tokens), state=JudgeCost.State.PAID, n_bytes__gt=0
    )
    sizes = dict(costs.values_list("request_sha256", "n_bytes"))
    if len(sizes) < _ENOUGH:
        return {}
    n_tokens = sum(tokens[key] for key in sizes)
    return {
        "bytes_a_token": round(sum(sizes.values()) / n_tokens, 3),
        "n_measured": len(sizes),
    }


# Maximum of questions per run.
MOST_CALLS = 200_000
# Outputs in an audit: by default (a command that changes three in ten by half a scale
# is then found in about four audits of five), and at most.
AUDITED, MOST_AUDITED = 30, 1_000
_AT_ONCE = 500


@dataclass(frozen=True)
class Wish:
    """The requested outputs; if empty, those that people rate."""

    criteria: Sequence[str] = ()
    submissions: Sequence[int] = ()
    n_instances: int | None = None
    # non-public texts, which are sent only if the approval allows it, too
    with_references: bool = False
    with_private: bool = False
    # of joint judges, outputs per page; None: as many as people's pages show
    per_page: int | None = None
    # repeats answered questions
    occasion: str = ""
    # outputs of which injected commands are tested
    audit: int = 0


def ask(judge: Judge, task: Task, wish: Wish, *, by: Account | None = None) -> JudgeRun:
    """Create a run with its price; requests are sent only after an approval."""
    human = _human(judge, task, wish)
    if not 0 <= wish.audit <= MOST_AUDITED:
        raise GenieError(
            f"An audit can have 0 to {MOST_AUDITED:,} outputs, not {wish.audit:,}.",
            code="bad-size",
        )
    systems, instances = _systems(task, wish), _instances(task, wish)
    with transaction.atomic():
        run = JudgeRun.objects.create(
            judge=judge,
            task=task,
            plan={
                "criteria": list(wish.criteria) or list(human.criteria),
                "submissions": systems,
                "instances": [instance.instance_id for instance in instances],
                "audit": wish.audit,
                **_more(judge, task, human, wish),
            },
            with_references=wish.with_references and task.hidden_references,
            with_private=wish.with_private,
            occasion=wish.occasion,
            asked_by_id=by.pk if by else None,
        )
        calls = _calls(
            run, requests_of(run), systems, instances, _there(systems, instances)
        )
        probed = _probes(calls, wish.audit)
        JudgeCall.objects.bulk_create([*calls, *probed], batch_size=2_000)
        run.n_calls, run.plan["n_probes"] = len(calls), len(probed)
        _put_price(run)
        run.save()
    return run


def _human(judge: Judge, task: Task, wish: Wish) -> HumanConfig:
    if judge.retired_at is not None:
        raise GenieError(f"{judge} is retired.", code="judge-retired")
    human = human_of(judge, task)
    if unknown := sorted({*wish.criteria} - {*human.criteria}):
        raise GenieError(
            f"{task.title} does not ask about {unknown[0]!r}. Its criteria: "
            f"{', '.join(human.criteria)}.",
            code="unknown-criterion",
        )
    return human


def _more(judge: Judge, task: Task, human: HumanConfig, wish: Wish) -> dict[str, Any]:
    beside = human.show_reference or design_of(task, human).needs_reference
    said = {
        "per_page": wish.per_page,
        "ratios": scale_of(judge, human).relative,
        "references": beside and (wish.with_references or not task.hidden_references),
        **bytes_a_token(judge),
    }
    return {name: value for name, value in said.items() if value}


def _systems(task: Task, wish: Wish) -> list[int]:
    allowed = sendable(
        task, references=wish.with_references, private=wish.with_private
    ).order_by("pk")
    found = list(allowed.values_list("pk", flat=True))
    if wish.submissions:
        if missing := sorted({*wish.submissions} - {*found}):
            raise GenieError(
                f"Submission {missing[0]} is not a submission to {task.title}, or its "
                f"outputs must not be sent. It is private, made of hidden references, or "
                "does not exist.",
                code="may-not-leave",
            )
        found = [pk for pk in found if pk in set(wish.submissions)]
    if not found:
        raise GenieError(
            f"{task.title} has no outputs that may be sent.", code="nothing-to-judge"
        )
    return found


def _instances(task: Task, wish: Wish) -> list[Instance]:
    n = task.sample_size if wish.n_instances is None else wish.n_instances
    return list(task.instances.filter(sample_rank__lt=n).order_by("position"))


def _calls(
    run: JudgeRun,
    asked: Requests,
    systems: list[int],
    instances: list[Instance],
    there: set[tuple[int, int]],
) -> list[JudgeCall]:
    n_parts = len(asked.parts)
    k = int(run.judge.definition["k"])
    if asked.design.needs_reference:
        instances = [one for one in instances if has_references(one)]
    pages = [
        (instance, page)
        for instance, page in pages_of(
            run.judge.definition["mode"],
            asked.design,
            systems,
            instances,
            per_page=run.plan.get("per_page"),
        )
        if {(pk, instance.pk) for pk in page.systems} <= there
    ]
    n = len(pages) * n_parts * k
    if not n or n > MOST_CALLS:
        raise GenieError(
            f"That would be {n:,} questions. A run can have 1 to {MOST_CALLS:,}.",
            code="bad-size",
        )
    return [
        JudgeCall(
            run=run,
            instance=instance,
            submission_id=page.submission,
            other_id=page.other,
            beside=list(page.beside),
            part=part,
            sample=sample,
        )
        for instance, page in pages
        for part in range(n_parts)
        for sample in range(k)
    ]


def _probes(calls: list[JudgeCall], n_outputs: int) -> list[JudgeCall]:
    by_instance: dict[int, list[JudgeCall]] = {}
    for call in sorted(calls, key=lambda call: call.instance.sample_rank):
        if (call.part, call.sample) == (0, 0):
            by_instance.setdefault(call.instance.pk, []).append(call)
    most = max(map(len, by_instance.values()), default=0)
    chosen = [
        some[(at + turn) % len(some)]
        for turn in range(most)  # a different output of each instance in turn
        for at, some in enumerate(by_instance.values())
        if turn < len(some)
    ][:n_outputs]
    return [
        JudgeCall(
            run=call.run,
            instance=call.instance,
            submission_id=call.submission_id,
            other_id=call.other_id,
            beside=call.beside,
            part=part,
            probe=probe,
        )
        for call in chosen
        for part in sorted({call.part for call in calls})
        for both in probes()
        for probe in both
    ]


def _there(systems: list[int], instances: list[Instance]) -> set[tuple[int, int]]:
    rows = Prediction.objects.filter(
        submission__in=systems, instance__in=[one.pk for one in instances]
    )
    return set(rows.values_list("submission_id", "instance_id"))


def _put_price(run: JudgeRun) -> None:
    expected = most = 0
    asked = set[str]()
    for some in _chunks(all_requests(run)):
        known = JudgeAnswer.objects.filter(request_sha256__in=list(some))
        asked.update(known.values_list("request_sha256", flat=True))
        new = [request for sha256, request in some.items() if sha256 not in asked]
        expected += sum(request.expected for request in new)
        most += sum(request.most for request in new)
        asked.update(some)
    run.expected_cents, run.most_cents = in_cents(expected), in_cents(most)
    run.plan["n_requests"] = len(asked)


def _chunks(requests: Iterable[Request]) -> Iterable[dict[str, Request]]:
    requests = iter(requests)
    while some := list(islice(requests, _AT_ONCE)):
        # systems with the same output are asked about once
        yield {request.sha256: request for request in some}
