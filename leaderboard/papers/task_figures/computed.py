"""Figures of a task's ratings, cached by set until the ratings change."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from genie.lib.serving.caches import computed_once
from leaderboard.boards.selectors.version import state
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.imports.readers.judgments import Judgments, frame
from leaderboard.imports.selectors import judgments_of
from leaderboard.papers.figures import (
    Computed,
    Figures,
    Value,
    all_figures,
    plain,
    under,
)
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import is_published, public
from leaderboard.tasks.models import Task
from quality.bans.models import Ban


# A task's ratings, imported or made here.
def judgments_for(task: Task) -> Judgments:
    """Return a task's ratings that count: the imported ones, else those made here.

    As on the board, withdrawn systems and banned workers are left out, also of imports.
    """
    return _remaining_judgments(task) if task.imports.exists() else _ours(task)


def _remaining_judgments(task: Task) -> Judgments:
    judgments = judgments_of(task)
    shown = Submission.objects.filter(public(), task=task).values("pk")
    hidden = Submission.objects.filter(task=task).exclude(pk__in=shown)
    called = {
        kept: found
        for row in task.imports.all()
        for kept, found in row.said.get("systems", {}).items()
    }
    names = hidden.values_list("system_name", flat=True)
    gone = {name for kept in names for name in (kept, called.get(kept, kept))}
    bans = Ban.in_force.filter(pool=task.slug)
    banned = {*bans.values_list("worker__pseudonym", flat=True)}
    rows = judgments.rows
    out = rows["system"].isin(gone) | rows["other"].isin(gone)
    kept = ~(out | rows["worker"].isin(banned))
    extra = None if judgments.extra is None else judgments.extra[kept]
    return replace(judgments, rows=rows[kept], extra=extra)


def _ours(task: Task) -> Judgments:
    rows = Submission.objects.filter(public(), is_published(), task=task)
    names = dict(rows.values_list("pk", "system_name"))
    ratings = system_ratings_of(set(rows.values_list("human_evaluation", flat=True)))
    ratings = ratings[ratings["submission"].isin(list(names))]
    if ratings.empty:
        return Judgments("own", frame({}))
    return Judgments(
        "own",
        frame(
            {
                "worker": ratings["worker"].astype(str).to_numpy(),
                "instance": ratings["instance"].astype(str).to_numpy(),
                "system": ratings["submission"].map(names).to_numpy(),
                "criterion": ratings["criterion"].to_numpy(),
                "value": ratings["value"].to_numpy(),
            }
        ),
    )


#: The set of figures on the board, for any ratings.
BOARD = "board"
BOARD_NAMES = {
    "score": "a system's score, as the board shows it",
    "low": "lower end of its 95% interval",
    "high": "upper end",
    "ranks": "first and last rank",
    "instances": "instances behind the score",
    "raters": "workers behind the score",
}
_KEPT_SECONDS = 24 * 3600


def known_figures() -> dict[str, str]:
    """Return every figure's description by slug, those of the board first."""
    board = {f"{BOARD}-{name}": words for name, words in BOARD_NAMES.items()}
    sets = {
        f"{one.slug}-{name}": words
        for one in all_figures().values()
        for name, words in one.names.items()
    }
    return board | sets


def figures_of(task: Task, sets: Iterable[str]) -> dict[str, Computed]:
    """Compute some sets; figures that cannot be computed are left out."""
    names = list(task.imports.order_by("pk").values_list("pk", flat=True))
    stamp = json.dumps([task.pk, state(task).version, names])
    return {one: _stored_figures(task, one, stamp) for one in sorted(set(sets))}


def _stored_figures(task: Task, one: str, stamp: str) -> Computed:
    key = hashlib.sha256(f"{one} {stamp}".encode()).hexdigest()
    return computed_once(f"published-{key}", lambda: _compute(task, one), _KEPT_SECONDS)


def _compute(task: Task, one: str) -> Computed:
    if one == BOARD:
        return _of_board(task)
    figures = all_figures().get(one)
    if figures is None:
        return {}
    said: dict[str, Any] = next(
        (each.choices for each in task.imports.order_by("pk")), {}
    )
    settings = {"seed": seed_from("published", task.slug) % 2**32, **said}
    return by_criterion(figures, judgments_for(task), settings)


def by_criterion(
    figures: type[Figures], judgments: Judgments, settings: Mapping[str, Any]
) -> Computed:
    """Compute a set for each criterion, and for all of them or the first one.

    Ids without a criterion are of all ratings if the set pools them, else of the first
    criterion.
    """
    rows, extra = judgments.rows, judgments.extra
    found: Computed = {}
    for criterion in dict.fromkeys(rows["criterion"]):
        kept = rows["criterion"] == criterion
        part = replace(
            judgments, rows=rows[kept], extra=None if extra is None else extra[kept]
        )
        values = _or_nothing(figures, part, settings)
        if not found and not figures.pooled:
            found |= values
        found |= under(str(criterion), values)
    return found | (_or_nothing(figures, judgments, settings) if figures.pooled else {})


def _or_nothing(
    figures: type[Figures], judgments: Judgments, settings: Mapping[str, Any]
) -> Computed:
    try:
        return figures.compute(judgments, settings)
    except (GenieError, ValueError):
        # these ratings have no such figures
        return {}


def _of_board(task: Task) -> Computed:
    scores = Score.objects.filter(
        public("submission__"),
        submission__task=task,
        submission__published_at__isnull=False,
        superseded_at=None,
    )
    first = next(iter(task.human.criteria), "overall")
    found: Computed = {}
    for name, criterion, mean, low, high, start, end, n, workers in scores.values_list(
        *("submission__system_name", "criterion", "mean", "low", "high"),
        *("rank_first", "rank_last", "n", "n_workers"),
    ):
        values: dict[str, Value] = {
            "score": mean,
            "low": low,
            "high": high,
            "instances": float(n),
            "raters": float(workers),
        }
        if start is not None:
            values["ranks"] = plain((start, end))
        found |= under(f"{criterion}/{name}", values)
        if criterion == first:
            found |= under(name, values)
    return found
