"""Estimate a board's systems together, and update adjusted scores and ranks.

At first, a score is this crowd's plain mean. After publication, the systems of its
board are estimated together, because they share workers and instances; each such fit
replaces the scores that it changes.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from genie.lib.serving.caches import is_unmoved, looked_in_vain
from leaderboard.evaluation.estimates import FIT, headline_of
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.result_columns import fit_columns
from leaderboard.evaluation.selectors.board_ratings import (
    board_scores,
    current_fit,
    ranking_rows,
    scores_of_boards,
)
from leaderboard.evaluation.services import public_log
from leaderboard.evaluation.services.fit_pieces import Refit, compute_fit, forget
from leaderboard.stats.systems.estimates import COVERS_THESE
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import is_published
from leaderboard.tasks.config import ADJUSTED, PLAIN, Z_SCORES
from leaderboard.tasks.models import Task
from quality.bans.selectors import soft_weights, weights_stamps

# Increased with each change of the estimation: all boards are then estimated again.
VERSION = 7
# Workers' weights change with each answer; a board follows once a day.
WEIGHTS_STAND = timedelta(days=1)
# Why a score changed although its own ratings did not, once a day at most.
AGAIN = "the systems of the board were estimated together again"
PAUSE = timedelta(days=1)
# Methods of intervals, and the populations that they cover.
_INTERVALS = {ADJUSTED: "jackknife95", Z_SCORES: "clustered95"}
_SOURCES = ("worker", "instance", "day")
# Fields of scores that determine a fit.
_MADE_FROM = (
    *("submission_id", "submission__entry", "criterion", "ratings_sha256", "n"),
    *("evaluation__n_instances", "evaluation__ranks_partial"),
)


def refit_board(task: Task, *, hold: bool = False, in_time: bool = False) -> None:
    """Update a task's board and the private systems that are compared with it.

    With `hold`, scores whose own ratings are the same change once a day at most; ranks
    and clusters always follow. With `in_time`, raises Later if pieces are left after
    some seconds.
    """
    refit(task, hold=hold, in_time=in_time)
    for submission in _beside().filter(task=task).order_by("pk"):
        refit(task, submission, hold=hold, in_time=in_time)


def _beside() -> QuerySet[Submission]:
    return Submission.objects.filter(
        is_published(), visibility=Submission.Visibility.PRIVATE
    )


def refit(
    task: Task,
    of: Submission | None = None,
    *,
    hold: bool = False,
    in_time: bool = False,
) -> bool:
    """Estimate the public board, or one system beside it; return whether it was due."""
    inputs = inputs_of(task, of)
    current = current_fit(task, of)
    known = current.inputs_sha256 if current else None
    until = current.holds_until if current else None
    moves = until is not None and (not hold or until <= timezone.now())
    new = known != inputs or moves or _has_aged(current)
    if not new and not board_scores(task, of).filter(fit=None).exists():
        return False
    estimated = compute_fit(task, of, inputs, in_time=in_time)
    with transaction.atomic():
        # one at a time per task: the task's row is the lock
        Task.objects.select_for_update(no_key=True).get(pk=task.pk)
        # a system that leaves its evaluation takes its scores along: before, or after
        scored = board_scores(task, of).order_by().values("evaluation")
        rows = HumanEvaluation.objects.filter(pk__in=scored).order_by("pk")
        list(rows.select_for_update(of=("self",)))
        if inputs_of(task, of) != inputs:
            # a score has changed meanwhile, and has queued another fit
            return False
        _write(estimated, hold=hold)
    return True


def due() -> list[int]:
    """Return the ids of tasks whose board no longer matches its scores."""
    found = scores_of_boards(*_MADE_FROM, "fit")
    fits = BoardFit.objects.filter(of=None, superseded_at=None, task__in=list(found))
    current = {
        fit.task_id: fit
        for fit in fits.select_related("task").defer("criteria", "evidence", "weights")
    }
    aged = _aged_tasks(current.values())
    held = BoardFit.objects.filter(superseded_at=None, holds_until__lte=timezone.now())
    # the fit of a withdrawn private system is no longer made
    made = Q(of=None) | Q(of__in=_beside())
    moves = set(held.filter(made).values_list("task", flat=True))
    return [
        task.pk
        for task, rows in found.items()
        if task.pk in moves | aged
        or task.pk not in current
        or current[task.pk].inputs_sha256
        != _hash_inputs(task, [row[:-1] for row in rows])
        or any(fit is None for *_, fit in rows)
    ]


def _aged_tasks(fits: Iterable[BoardFit]) -> set[int]:
    """Return the tasks of aged fits, and postpone the next check of the others."""
    aged, stamps = set(), weights_stamps()
    for fit in fits:
        name = f"weights-of-fit-{fit.pk}-{fit.created_at.timestamp()}"
        stamp = stamps.get(fit.task.slug, ())
        if not _is_old(fit) or is_unmoved(name, stamp):
            continue
        if _has_aged(fit):
            aged.add(fit.task_id)
        else:
            looked_in_vain(name, stamp)
    return aged


def _is_old(fit: BoardFit) -> bool:
    return timezone.now() - fit.created_at >= WEIGHTS_STAND


def _has_aged(fit: BoardFit | None) -> bool:
    if fit is None or not _is_old(fit):
        return False
    return bool(soft_weights(fit.task.slug) != fit.weights)


def holds(task: Task) -> bool:
    """Check whether scores of the board still have numbers of an earlier estimate."""
    current = current_fit(task)
    return current is not None and current.holds_until is not None


def inputs_of(task: Task, of: Submission | None = None) -> str:
    rows = board_scores(task, of).order_by("submission_id", "criterion")
    return _hash_inputs(task, list(rows.values_list(*_MADE_FROM)))


def _hash_inputs(task: Task, rows: list[tuple[Any, ...]]) -> str:
    human, whole = task.human, settings.GENIE["WHOLE_SHARE"]
    rules = human.estimate, human.ranks, human.population
    parts: list[Any] = [VERSION, *rules, whole, rows]
    # a changed license ranks the board again
    helped = ranking_rows(task, {row[0] for row in rows})
    if helped:
        parts.append([row.inputs_sha256 for row in helped])
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _write(refit: Refit, *, hold: bool) -> None:
    now = timezone.now()
    of = Submission.objects.get(pk=refit.of) if refit.of else None
    BoardFit.objects.filter(task=refit.task, of=of, superseded_at=None).update(
        superseded_at=now
    )
    fit = BoardFit.objects.create(
        task=refit.task,
        of=of,
        criteria=refit.criteria,
        evidence=refit.evidence,
        weights=refit.weights,
        inputs_sha256=refit.inputs_sha256,
    )
    rows = board_scores(refit.task, of).select_related("submission")
    if of is None:
        # estimates made separately before publication join the board now
        BoardFit.objects.filter(
            task=refit.task, of__in=rows.values("submission"), superseded_at=None
        ).update(superseded_at=now)
    else:
        # the public board does not change with a system beside it
        rows = rows.filter(submission=of)
    held = [_give(score, fit, refit, now, hold=hold) for score in rows]
    public_log.scores(score for score in rows if score.fit_id == fit.pk)
    if ends := [until for until in held if until is not None]:
        fit.holds_until = min(ends)
        fit.save(update_fields=["holds_until"])
    forget(refit.task, of)


def _give(
    score: Score, fit: BoardFit, refit: Refit, now: datetime, *, hold: bool
) -> datetime | None:
    """Replace a score or fill it in; return until when its numbers are held."""
    standing = refit.standings.get((score.submission_id, score.criterion))
    estimates: dict[str, Any] = {PLAIN: score.estimates[PLAIN]}
    if standing is not None:
        estimates |= {name: asdict(one) for name, one in standing.estimates.items()}
    name = headline_of(estimates, refit.task.human.estimate)
    ranks = standing.ranks if standing else None
    numbers = {
        **estimates[name],
        "estimates": estimates,
        **(standing.columns if standing else fit_columns(None)),
        "signature": _join_signatures(
            score.signature,
            name,
            estimates[name]["covers"],
            refit.task.human.population,
        ),
    }
    until = None
    if hold and numbers["signature"] == score.signature and not _has(score, numbers):
        until = _held_until(score, now, estimates)
    shown: dict[str, Any] = {
        "rank_first": ranks[0] if ranks else None,
        "rank_last": ranks[1] if ranks else None,
        "cluster": standing.cluster if standing else None,
        **({} if until else numbers),
    }
    if _has(score, shown):
        return until
    if score.fit_id is not None:
        Score.objects.filter(pk=score.pk).update(superseded_at=now)
        score.pk = None
        score._state.adding = True
        score.reason = AGAIN
    for field, value in shown.items():
        setattr(score, field, value)
    score.fit = fit
    score.save()
    return until


def _has(score: Score, fields: Mapping[str, Any]) -> bool:
    return all(getattr(score, name) == value for name, value in fields.items())


def _held_until(
    score: Score, now: datetime, estimates: Mapping[str, Any]
) -> datetime | None:
    """Return until when a score keeps its numbers; former ones may always return."""
    if score.fit_id is None or score.submission.published_at is None:
        return None
    rows = (
        Score.objects.filter(
            evaluation=score.evaluation_id,
            submission=score.submission_id,
            criterion=score.criterion,
        )
        .order_by("pk")
        .only("created_at", "estimates", "reason")
    )
    if any(row.estimates == estimates for row in rows):
        return None
    # ranks change without the numbers, so not every row is a change of numbers
    moved = [
        new.created_at
        for old, new in pairwise(rows)
        if new.reason == AGAIN and new.estimates != old.estimates
    ]
    return moved[-1] + PAUSE if moved and moved[-1] + PAUSE > now else None


def _join_signatures(signature: str, estimate: str, covers: str, raters: str) -> str:
    parts = dict(part.partition(":")[::2] for part in signature.split("|"))
    plain = parts.pop("plain", None) or parts["ci"]
    version = parts.pop("version")
    parts |= {"ci": plain, "est": estimate, "fit": FIT, "raters": raters}
    parts["version"] = version
    parts.pop("covers", None)
    if estimate != PLAIN:
        # "which workers rated the outputs; not which instances" covers workers only
        these = estimate == ADJUSTED and covers == COVERS_THESE
        parts["ci"] = "cr2-95" if these else _INTERVALS[estimate]
        parts["covers"] = "+".join(
            f"{one}s" for one in _SOURCES if one in covers.partition(";")[0]
        )
        parts["plain"] = plain
    return "|".join(f"{name}:{value}" for name, value in parts.items())
