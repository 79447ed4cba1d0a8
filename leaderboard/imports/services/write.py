"""Store parts of an import: campaigns, inputs, HITs, items, assignments, answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from crowd.hits.models import HIT, Answer, Assignment, Campaign, Item
from crowd.hits.services.inputs import inputs_for
from leaderboard.designs.base import content_key
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JudgedItem,
    JudgedOutput,
)
from leaderboard.imports.kept import ASIDE, PAGES, PAIRS, WON
from leaderboard.imports.readers.judgments import Role
from leaderboard.imports.services.bulk import Tell, store
from leaderboard.imports.services.plan import Part
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

LONGEST_RAW = 200
# The tables that an import makes much longer at once.
WRITTEN = (HIT, Item, Assignment, Answer, JudgedItem, JudgedOutput)


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
        _judged(part, items, item_pks, places, known)
    turns = rows.drop_duplicates("turn").sort_values("turn")
    hits = [hit_pks[item] for item in turns["item"].tolist()]
    turn_pks = _turns(turns, hits, known)
    about = turns.set_index("turn")[["at", "seconds"]].reindex(rows["turn"])
    detail: Any = None
    if part.kind not in (WON, PAGES):
        detail = list(_details(rows, about, known))
    words = rows["word"].tolist()
    store(
        Answer,
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
        data = list(_aside(items))
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


def _aside(items: pd.DataFrame) -> Iterator[dict[str, Any]]:
    names = ("role", "system", "other", "instance")
    for row in zip(*(items[name].tolist() for name in names), strict=True):
        yield {name: value for name, value in zip(names, row, strict=True) if value}


def _judged(
    part: Part,
    items: pd.DataFrame,
    item_pks: Sequence[int],
    places: Sequence[Place],
    known: Known,
) -> None:
    evaluations = [places[n].evaluation for n in items["campaign"].tolist()]
    judged = store(
        JudgedItem,
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
        JudgedOutput,
        {
            "judged_item_id": [row for row, _, _ in slots],
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
        took = None if not math.isfinite(took) else took
        ends.append(end)
        seconds.append(took)
        begin = end or known.at
        if end and took and 0 < took < 1e7:
            begin = end - timedelta(seconds=took)
        begins.append(begin)
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
        _said(rows, known), own, of_turn, values, strict=True
    ):
        if not _same(times[0], _kept(usual[0])):
            detail["at"] = _number(times[0])
        if not _same(times[1], usual[1]):
            detail["seconds"] = _number(times[1])
        if not exact:
            detail["value"] = _number(value)
        yield detail


def _said(rows: pd.DataFrame, known: Known) -> Iterator[dict[str, Any]]:
    names = (
        *("file", "row", "role", "page", "place", "document", "instance"),
        *("spans", "word"),
    )
    columns = (rows[name].tolist() for name in names)
    for nth, *row in zip(rows.index.tolist(), *columns, strict=True):
        file, line, role, page, place, document, instance, spans, word = row
        detail: dict[str, Any] = {"row": [file, line, nth]}
        if role != Role.JUDGMENT.value:
            detail["role"] = role
        if page:
            detail["page"] = page
        if place != -1:
            detail["place"] = place
        if document != known.documents.get(instance, ""):
            detail["document"] = document
        if spans is not None:
            detail["spans"] = spans
        if len(word) > LONGEST_RAW or "\0" in word:
            detail["word"] = word
        yield detail


def _number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def _kept(at: float) -> float:
    """Return a time with the precision of a database column, microseconds."""
    return at if math.isnan(at) else datetime.fromtimestamp(at, UTC).timestamp()


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))
