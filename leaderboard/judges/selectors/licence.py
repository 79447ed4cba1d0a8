"""Whether ratings by people support a license of a judge for a task's criterion."""

from typing import Any

from leaderboard.judges.definition import JOINT
from leaderboard.judges.models import JudgeMetric, JudgeRun
from leaderboard.judges.selectors.audit import audit_of
from leaderboard.judges.selectors.overlap import overlap_of, told_of
from leaderboard.metric_board.selectors.snapshot import STATISTICS, shown_board
from leaderboard.stats.judges.licence import Licence, Reason, drift, judge_licence

# what a crowd worker costs more than a judge (Calderon et al. 2025, section 3)
_EPSILON = 0.1
_SEED = 0
# the reason that has the number of people
PEOPLE = "people"
# a person has no soft pairwise accuracy: their few ratings do not give a certainty
_ON_BOARD = ("pairwise-accuracy", "calibrated")


def licence_of(
    run: JudgeRun, criterion: str, *, before: JudgeRun | None = None
) -> Licence:
    """Compute the verdict on a license; drift is measured against the run `before`."""
    if run.judge.definition["mode"] == JOINT:
        why = (
            "it saw several outputs at once; licences are for one output, or for pairs"
        )
        return Licence([Reason("people", False, why)], [])
    overlap, told = overlap_of(run, criterion), told_of(run, criterion)
    earlier = overlap.labels(told_of(before, criterion)) if before else None
    audit = audit_of(run, criterion, overlap, told)
    try:
        found = judge_licence(
            overlap.by_person(),
            overlap.labels(told),
            score=overlap.score,
            epsilon=_EPSILON,
            seed=_SEED,
            before=earlier,
        )
    except ValueError as error:
        why = f"{error} Looked at: {overlap.words}."
        return Licence([Reason(PEOPLE, False, why), *audit], [])
    rests_on = Reason(PEOPLE, True, f"{overlap.words}, of {overlap.n_people:,} people")
    reasons = [rests_on, *found.reasons, *audit, *_on_board(run, criterion)]
    return Licence(reasons, [])


def drift_between(given: JudgeRun, later: JudgeRun, criterion: str) -> Reason | None:
    """Check whether a judge's fit to people has changed; None with too little data."""
    overlap = overlap_of(given, criterion)
    before, now = (overlap.labels(told_of(run, criterion)) for run in (given, later))
    shared = {key for key in before if key in now}
    try:
        return drift(
            overlap.by_person(),
            {key: now[key] for key in sorted(shared)},
            {key: before[key] for key in sorted(shared)},
            score=overlap.score,
            seed=_SEED,
        )
    except ValueError:
        return None


def _on_board(run: JudgeRun, criterion: str) -> list[Reason]:
    board: Any = shown_board(run.task, criterion)
    # of several runs of a judge, the newest is shown there
    rows = JudgeMetric.objects.filter(run__judge=run.judge, run__task=run.task)
    own = rows.filter(criterion=criterion).values_list("metric", flat=True)
    line = (
        next((one for one in board.lines if one.outside_pk in own), None)
        if board.board
        else None
    )
    person = board.person if board.board else None
    if line is None or person is None:
        return [
            Reason("metric board", False, "no row of the judge beside a person's yet")
        ]
    reasons = []
    for name in _ON_BOARD:
        judge, beside = line.cells.get(name), person.cells.get(name)
        if judge is None or beside is None or judge.value is None or beside.low is None:
            words, holds = "not defined for judge and person", False
        else:
            words = (
                f"{judge.value:.3f}; a person {beside.value:.3f}, from {beside.low:.3f}"
            )
            holds = judge.value >= beside.low
        reasons.append(Reason(STATISTICS[name].label.lower(), holds, words))
    return reasons
