"""Store parts of an import: campaigns, inputs, HITs, items, assignments, answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from crowd.hits.models import HIT, Assignment, Campaign, Item, Rating
from crowd.hits.services.build import inputs_for
from genie.lib.typing import Account
from leaderboard.designs.base import content_key
from leaderboard.evaluation.models.human_evaluation import (
    EvaluatedSystem,
    HumanEvaluation,
    JointEvaluation,
    Score,
    ShownOutput,
    Subject,
)
from leaderboard.evaluation.services import refit
from leaderboard.evaluation.services import score as scoring
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.imports.models import Import
from leaderboard.imports.readers.judgments import Role, Texts
from leaderboard.imports.selectors import ASIDE, PAGES, PAIRS, WON
from leaderboard.imports.services.plan import Part
from leaderboard.submissions.models import Prediction, Submission, SubmissionEvent, Team
from leaderboard.submissions.selectors import is_withdrawn
from leaderboard.submissions.states import State
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd
    from django.db.models import Model


# Store many rows of one table, column by column.

BATCH = 2_000
# Receives the number of rows stored; may raise to cancel, and then no data is stored.
Tell = Callable[[int], None]


def store(
    model: type[Model], columns: Mapping[str, Any], n: int, tell: Tell | None = None
) -> list[int]:
    """Store `n` rows and return their keys, in order.

    A column is a list, or one value for all rows.
    """
    pks: list[int] = []
    rows = _rows(columns, n)
    while some := [model(**row) for row in islice(rows, BATCH)]:
        made = model._default_manager.bulk_create(some)
        pks += [row.pk for row in made]
        if tell:
            tell(len(made))
    return pks


def _rows(columns: Mapping[str, Any], n: int) -> Iterator[dict[str, Any]]:
    names = list(columns)
    lists: list[Sequence[Any] | repeat[Any]] = [
        value if isinstance(value, list) else repeat(value, n)
        for value in columns.values()
    ]
    # a single value repeats without end, so `n` limits the rows
    for row in islice(zip(*lists, strict=False), n):
        yield dict(zip(names, row, strict=True))


LONGEST_RAW = 200
# The tables that an import makes much longer at once.
WRITTEN = (HIT, Item, Assignment, Rating, Subject, ShownOutput)


@dataclass(frozen=True)
class Place:
    campaign: Campaign
    # none: rows stored aside
    evaluation: HumanEvaluation | None = None


@dataclass(frozen=True)
class Known:
    task: Task
    instances: Mapping[str, int]
    systems: Mapping[str, int]
    workers: Mapping[str, int]
    # instance -> its stored id, and its document
    ids: Mapping[str, str]
    documents: Mapping[str, str]
    # the time of work without a recorded time
    at: datetime


def write(part: Part, places: Sequence[Place], known: Known, tell: Tell) -> None:
    rows = part.rows
    items = rows.drop_duplicates("item").sort_values("item")
    item_pks, hit_pks = _items(part, items, places, known)
    if part.kind != ASIDE:
        _store_judged(part, items, item_pks, places, known)
    turns = rows.drop_duplicates("turn").sort_values("turn")
    turn_pks = _turns(turns, [hit_pks[item] for item in turns["item"].tolist()], known)
    about = turns.set_index("turn")[["at", "seconds"]].reindex(rows["turn"])
    detail: Any = None
    if part.kind not in (WON, PAGES):
        detail = list(_details(rows, about, known))
    words = rows["word"].tolist()
    store(
        Rating,
        {
            "assignment_id": [turn_pks[turn] for turn in rows["turn"].tolist()],
            "item_id": [item_pks[item] for item in rows["item"].tolist()],
            "criterion": rows["named"].tolist(),
            "slot": rows["slot"].tolist(),
            "value": rows["kept"].tolist(),
            "raw": [str(word).replace("\0", "")[:LONGEST_RAW] for word in words],
            "detail": detail,
        },
        len(rows),
        tell,
    )


def _items(
    part: Part, items: pd.DataFrame, places: Sequence[Place], known: Known
) -> tuple[list[int], list[int]]:
    slug = known.task.slug
    campaigns = [places[n].campaign.pk for n in items["campaign"].tolist()]
    keys = [content_key(slug, known.ids[one]) for one in items["instance"].tolist()]
    inputs = inputs_for(places[0].campaign, keys)
    position = items.groupby("campaign", sort=False).cumcount().tolist()
    n_turns = part.rows.groupby("item")["turn"].nunique().tolist()
    n = len(items)
    hits = store(
        HIT,
        {
            "campaign_id": campaigns,
            "input_id": [inputs[key].pk for key in keys],
            "position": position,
            "n_available": 0,
            "max_assignments": n_turns,
        },
        n,
    )
    data: Any = {}
    if part.kind == ASIDE:
        about = items[["role", "system", "other", "instance"]].to_dict("records")
        data = [{name: word for name, word in row.items() if word} for row in about]
    pks = store(
        Item,
        {
            "campaign_id": campaigns,
            "hit_id": hits,
            "key": [f"imported-{nth}" for nth in position],
            "data": data,
            "content_key": keys,
        },
        n,
    )
    return pks, hits


def _store_judged(
    part: Part,
    items: pd.DataFrame,
    item_pks: Sequence[int],
    places: Sequence[Place],
    known: Known,
) -> None:
    evaluations = [places[n].evaluation for n in items["campaign"].tolist()]
    judged = store(
        Subject,
        {
            "evaluation_id": [one.pk for one in evaluations if one],
            "item_id": list(item_pks),
            "instance_id": [known.instances[name] for name in items["instance"]],
        },
        len(items),
    )
    if part.kind == PAIRS:
        pairs = zip(items["system"], items["other"], judged, strict=True)
        slots = [
            (row, slot, system)
            for first, second, row in pairs
            for slot, system in (("A", first), ("B", second))
        ]
    elif part.kind == PAGES:
        once = part.rows.drop_duplicates(["item", "slot"])
        shown = zip(once["item"], once["slot"], once["system"], strict=True)
        slots = [(judged[item], slot, system) for item, slot, system in shown]
    else:
        return
    store(
        ShownOutput,
        {
            "subject_id": [row for row, _, _ in slots],
            "slot": [slot for _, slot, _ in slots],
            "submission_id": [known.systems[system] for _, _, system in slots],
        },
        len(slots),
    )


def _turns(turns: pd.DataFrame, hits: list[int], known: Known) -> list[int]:
    ends, begins, seconds = [], [], []
    columns = (turns["at"].tolist(), turns["seconds"].tolist())
    for at, took in zip(*columns, strict=True):
        end = None if math.isnan(at) else datetime.fromtimestamp(at, UTC)
        ends.append(end)
        seconds.append(took if math.isfinite(took) else None)
        spent = timedelta(seconds=took if 0 < took < 1e7 else 0)
        begins.append(end - spent if end else known.at)
    return store(
        Assignment,
        {
            "hit_id": hits,
            "worker_id": [known.workers[name] for name in turns["worker"].tolist()],
            "state": Assignment.State.APPROVED,
            "reward_cents": 0,
            "accepted_at": begins,
            "deadline_at": [e or b for e, b in zip(ends, begins, strict=True)],
            "submitted_at": ends,
            "decided_at": ends,
            "active_seconds": seconds,
        },
        len(turns),
    )


def _details(
    rows: pd.DataFrame, about: pd.DataFrame, known: Known
) -> Iterator[dict[str, Any]]:
    """Yield the source row of each answer, and values without a column.

    `row` has the file, the row within it, and the position among all rows read.
    """
    own, of_turn = (
        list(zip(frame["at"].tolist(), frame["seconds"].tolist(), strict=True))
        for frame in (rows, about)
    )
    values = zip(rows["value"].tolist(), rows["exact"].tolist(), strict=True)
    for detail, times, usual, (value, exact) in zip(
        _answer_rows(rows, known), own, of_turn, values, strict=True
    ):
        if not _same(times[0], _database_time(usual[0])):
            detail["at"] = _number(times[0])
        if not _same(times[1], usual[1]):
            detail["seconds"] = _number(times[1])
        if not exact:
            detail["value"] = _number(value)
        yield detail


def _answer_rows(rows: pd.DataFrame, known: Known) -> Iterator[dict[str, Any]]:
    names = (
        *("file", "row", "role", "page", "place", "document", "instance"),
        *("spans", "word"),
    )
    columns = (rows[name].tolist() for name in names)
    for nth, *row in zip(rows.index.tolist(), *columns, strict=True):
        file, line, role, page, place, document, instance, spans, word = row
        is_raw = len(word) <= LONGEST_RAW and "\0" not in word
        usual = (
            ("role", role, Role.JUDGMENT.value),
            ("page", page, ""),
            ("place", place, -1),
            ("document", document, known.documents.get(instance, "")),
            ("spans", spans, None),
            ("word", word, word if is_raw else None),
        )
        more = {name: found for name, found, stored in usual if found != stored}
        yield {"row": [file, line, nth], **more}


def _number(value: float) -> float | str | None:
    word = value if math.isfinite(value) else str(value)
    return None if math.isnan(value) else word


def _database_time(at: float) -> float:
    """Return a time with the precision of a database column, microseconds."""
    return at if math.isnan(at) else datetime.fromtimestamp(at, UTC).timestamp()


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


# The systems of an import, and their outputs.
TEAM = "imported"


def submissions_of(
    row: Import, names: Mapping[str, str], *, by: Account
) -> dict[str, int]:
    """Return each system's submission by its name in the files; create new ones."""
    team, _ = Team.objects.get_or_create(
        slug=TEAM, defaults={"name": "Judged elsewhere"}
    )
    known = dict(
        Submission.objects.filter(task=row.task).values_list("system_name", "pk")
    )
    for name in dict.fromkeys(names.values()):
        if name not in known:
            known[name] = _create_submission(row, team, name, by)
    return {name: known[kept] for name, kept in names.items()}


def _create_submission(row: Import, team: Team, name: str, by: Account) -> int:
    evaluation = HumanEvaluation.objects.create(
        task=row.task,
        state=State.ANNOTATED,
        design=row.task.human.design,
        n_instances=0,
        seed=0,
        imported=row,
        requested_by=by,
        # the number of rated instances is given by the files, not planned here
        ranks_partial=True,
        finished_at=timezone.now(),
    )
    submission = Submission.objects.create(
        task=row.task,
        team=team,
        owner=by,
        system_name=name,
        file_name="",
        file_bytes=0,
        own_state="MEASURED",
        human_evaluation=evaluation,
    )
    EvaluatedSystem.objects.create(
        evaluation=evaluation, submission=submission, position=0
    )
    SubmissionEvent.objects.create(
        submission=submission,
        state=submission.state,
        sentence="Its ratings were imported.",
        actor=by,
        # the submitter does not need news of it
        announced_at=timezone.now(),
    )
    return submission.pk


def predict(
    texts: Texts, systems: Mapping[str, int], instances: Mapping[str, int]
) -> None:
    stored = Prediction.objects.filter(submission__in=set(systems.values()))
    known = set(stored.values_list("submission_id", "instance_id"))
    new = {
        (systems[system], instances[instance]): text
        for (system, instance), text in texts.outputs.items()
        if system in systems and instance in instances
    }
    rows = [(*key, text) for key, text in new.items() if key not in known]
    store(
        Prediction,
        {
            "submission_id": [one for one, _, _ in rows],
            "instance_id": [one for _, one, _ in rows],
            "text": [text.replace("\0", "") for _, _, text in rows],
        },
        len(rows),
    )


# Scores, ranks and results of an imported task, computed as those of other tasks.
TellOf = Callable[[str, int, int], None]
# The reason recorded with a changed score.
REASON = "more judgments were imported, or an import was taken back"


def score_imported(task: Task, tell: TellOf) -> None:
    """Score, publish and rank every system of the task, and score joint evaluations.

    The queue resumes interrupted computations: it finds systems without scores.
    """
    alone = list(
        HumanEvaluation.objects.of_systems()
        .filter(task=task, submissions__isnull=False)
        .select_related("task")
        # an import does not restore withdrawn systems
        .exclude(is_withdrawn("submissions__"))
        .order_by("pk")
    )
    for done, evaluation in enumerate(alone, 1):
        _score(evaluation)
        tell("systems", done, len(alone))
    refit.refit_board(task)
    tell("board", 1, 1)
    together = JointEvaluation.objects.filter(task=task, state=State.ANNOTATED)
    for evaluation in together.select_related("task").order_by("pk"):
        strategy_of(evaluation).score(evaluation)
        tell("pages", 1, 1)


def _score(evaluation: HumanEvaluation) -> None:
    read_at = timezone.now()
    scores = scoring.compute_scores(evaluation)
    with transaction.atomic():
        scoring.write(evaluation, scores, reason=REASON)
        Score.objects.filter(evaluation=evaluation, superseded_at=None).update(
            provisional=False
        )
        # no more answers can arrive: published scores are final
        HumanEvaluation.objects.filter(pk=evaluation.pk).update(
            state=State.SCORED, scored_at=read_at, final_at=read_at
        )
        Submission.objects.filter(human_evaluation=evaluation).update(
            published_at=read_at
        )
