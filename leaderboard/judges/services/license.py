"""Licenses in the database: given, refused, expired, each with its evidence.

A row is added if the verdict or the facts have changed; rows are never altered. A job
looks when a hash of the evidence has changed (`look_at_all`).
"""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Max

from genie.lib import jobs
from leaderboard.evaluation.models.board_fit import JudgeLicence
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.judges.definition import digest
from leaderboard.judges.models import JudgeMetric, JudgeRun
from leaderboard.judges.selectors.facts import (
    MODEL,
    changed_facts,
    facts_of,
    is_asked_so,
)
from leaderboard.judges.selectors.licenses import standing_license
from leaderboard.judges.selectors.told import progress
from leaderboard.judges.selectors.validation import PEOPLE, drift_between, validation_of
from leaderboard.metric_board.models import MetricBoard
from leaderboard.stats.judges.validation import Reason

JOB = "leaderboard.jobs.license_judge"
# Increased when the same evidence would be decided differently.
RULE = "1"
State = JudgeLicence.State
_OUTDATED = Reason(
    "question",
    False,
    "the wording, scale or instructions for people have changed, so a new run is "
    "needed",
)


def look_at_all() -> int:
    due = [run.pk for run in _newest() if run.decided_on != evidence_of(run)]
    return jobs.enqueue_missing((JOB, {"pk": pk}) for pk in due)


def look(pk: int) -> None:
    run = JudgeRun.objects.select_related("judge", "task").get(pk=pk)
    # from before the check: later changes are checked again
    evidence = evidence_of(run)
    for criterion in _criteria(run):
        decide(run, criterion)
    JudgeRun.objects.filter(pk=pk).update(decided_on=evidence)


def decide_anew(run: JudgeRun) -> bool:
    same = [one for one in _newest() if one.judge == run.judge and one.task == run.task]
    rows = [decide(one, name, anew=True) for one in same for name in _criteria(one)]
    return any(rows)


def decide(
    newest: JudgeRun, criterion: str, *, anew: bool = False
) -> JudgeLicence | None:
    """Decide on a judge's license by its newest run; None without a change.

    While a license is valid, its own run counts, and later ones only show whether the
    judge is still the same. An expired one is decided again on new evidence: a later
    run, later scores of people, or a request of staff (`anew`).
    """
    last = standing_license(newest.judge, newest.task, criterion)
    if last is not None and last.state == State.LICENSED:
        run = _load_run(last.run)
        now = facts_of(run, criterion)
        if progress(newest).models:
            now[MODEL] = facts_of(newest, criterion)[MODEL]
        if gone := _expiry_reasons(last, newest, now):
            return _write(last, run, criterion, State.EXPIRED, last.reasons, now, gone)
    else:
        run = newest
        if last is not None and criterion not in newest.plan["criteria"]:
            run = _load_run(last.run)
        if _waits(last, run, criterion) and not anew:
            return None
        now = facts_of(run, criterion)
    return _weigh(last, run, criterion, now, anew=anew)


def _expiry_reasons(
    given: JudgeLicence, newest: JudgeRun, now: dict[str, str]
) -> list[str]:
    gone = changed_facts(given.facts, now)
    if newest.pk > given.run_id:
        found = drift_between(given.run, newest, given.criterion)
        if found is not None and not found.holds:
            gone.append(f"drift: {found.words} (run {newest.pk})")
    return gone


def _weigh(
    last: JudgeLicence | None,
    run: JudgeRun,
    criterion: str,
    now: dict[str, str],
    *,
    anew: bool,
) -> JudgeLicence | None:
    found = [_OUTDATED]
    if is_asked_so(run, criterion):
        found = validation_of(run, criterion)
    enough = all(one.holds for one in found if one.name in {PEOPLE, _OUTDATED.name})
    if last is not None and last.state == State.EXPIRED and not enough:
        return None  # it stays so until people's ratings can decide
    state = State.LICENSED if all(one.holds for one in found) else State.REFUSED
    reasons = [vars(one) for one in found]
    was = last and (
        last.run_id,
        last.state,
        last.facts,
        _comparable(last.reasons, anew),
    )
    if was == (run.pk, state, now, _comparable(reasons, anew)):
        return None
    return _write(last, run, criterion, state, reasons, now, [])


def _comparable(reasons: Iterable[dict[str, Any]], figures: bool) -> list[Any]:
    names = ["name", "holds", *(["words"] if figures else [])]
    return [[one[name] for name in names] for one in reasons]


def _write(
    last: JudgeLicence | None,
    run: JudgeRun,
    criterion: str,
    state: str,
    reasons: list[dict[str, Any]],
    facts: dict[str, str],
    gone: list[str],
) -> JudgeLicence | None:
    with transaction.atomic():
        # one after the other for a judge
        type(run.judge).objects.select_for_update().get(pk=run.judge_id)
        if standing_license(run.judge, run.task, criterion) != last:
            return None
        return JudgeLicence.objects.create(
            run=run,
            criterion=criterion,
            state=state,
            reasons=reasons,
            facts=facts,
            moved=gone,
        )


def _waits(last: JudgeLicence | None, run: JudgeRun, criterion: str) -> bool:
    if last is None or last.state != State.EXPIRED:
        return False
    scores = Score.objects.filter(
        submission__in=run.plan["submissions"],
        criterion=criterion,
        created_at__gt=last.at,
    )
    later = run.finished_at is not None and run.finished_at > last.at
    return not later and not scores.exists()


def evidence_of(run: JudgeRun) -> str:
    """Hash the evidence for licenses of a judge on a task, given its newest run."""
    task = run.task
    scores = Score.objects.filter(submission__task=task, superseded_at=None)
    boards = MetricBoard.objects.filter(task=task, state=MetricBoard.State.READY)
    on_board = JudgeMetric.objects.filter(run=run)
    # ratings of several systems at once are no scores of one
    beside = HumanEvaluation.objects.filter(task=task).exclude(
        pk__in=HumanEvaluation.objects.of_systems()
    )
    return digest(
        [
            RULE,
            run.judge.family,
            [
                [pk, state, str(at)]
                for pk, state, at in beside.order_by("pk").values_list(
                    "pk", "state", "scored_at"
                )
            ],
            [[name, facts_of(run, name)] for name in _criteria(run)],
            list(scores.order_by("pk").values_list("ratings_sha256", flat=True)),
            [
                list(row)
                for row in boards.order_by("pk").values_list("pk", "inputs_sha256")
            ],
            list(on_board.order_by("pk").values_list("metric", flat=True)),
        ]
    )


def _newest() -> list[JudgeRun]:
    done = JudgeRun.objects.filter(state=JudgeRun.State.DONE).order_by()
    newest = done.values("judge", "task").annotate(newest=Max("pk"))
    rows = JudgeRun.objects.filter(pk__in=newest.values("newest"))
    return list(rows.select_related("judge", "task").order_by("pk"))


def _criteria(run: JudgeRun) -> list[str]:
    decided = JudgeLicence.objects.filter(run__judge=run.judge, run__task=run.task)
    names = decided.order_by("pk").values_list("criterion", flat=True)
    return list(dict.fromkeys([*run.plan["criteria"], *names]))


def _load_run(run: JudgeRun) -> JudgeRun:
    return JudgeRun.objects.select_related("judge", "task").get(pk=run.pk)
