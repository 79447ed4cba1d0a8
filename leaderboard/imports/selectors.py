"""Read imported ratings back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, OuterRef, QuerySet

from crowd.hits.models import ELSEWHERE, Campaign, Item, Rating
from crowd.workers.models.worker import Worker
from genie.lib.unguessable import name_for
from leaderboard.evaluation.estimates import UNNAMED
from leaderboard.evaluation.models.human_evaluation import ShownOutput, Subject
from leaderboard.imports.models import Import, PublishedFigure
from leaderboard.imports.readers.judgments import Judgments, Role, Texts, frame
from leaderboard.submissions.models import Prediction
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.imports.readers.judgments import Judgments


# Details of an import that a person adds to its files.

# The platform of imported work: work can never be sent to it.
PLATFORM = ELSEWHERE


def told_by_rows(judgments: Judgments) -> dict[str, str]:
    """Return the details of how raters were asked that rows have: period and time."""
    told, judged = {}, judgments.judged
    at, seconds = judged["at"].dropna(), judged["seconds"].dropna()
    if len(at):
        days = [datetime.fromtimestamp(one, UTC).date() for one in (at.min(), at.max())]
        told["period"] = " to ".join(f"{day}" for day in dict.fromkeys(days))
    if len(seconds):
        told["time"] = f"a median of {seconds.median():.0f} s, as the files count it"
    return told


@dataclass(frozen=True)
class About:
    """Details of an import.

    An empty `title` is the slug, and an existing task keeps its title and its `raters`,
    the population that its results are about ("": not declared). `known` has
    details of how raters were asked, by the keys of
    `tasks.selectors.ASKED` or others. `choices` are answers to the
    reader's questions, `questions` map a criterion to the question that people read,
    and `scales` to its scale, such as "1 to 5"; "*" is every criterion.
    """

    title: str = ""
    source: str = ""
    licence: str = ""
    citation: str = ""
    raters: str = ""
    known: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)
    scales: Mapping[str, str] = field(default_factory=dict)


#: Prefix of stand-in workers for rows without a worker; no file has this character.
UNKNOWN = "\0"


def platform_worker_id(slug: str, name: str) -> str:
    """Return a pseudonymous worker id from which the name cannot be recovered.

    The same name in two imports of a task is the same person.
    """
    if name.startswith(UNKNOWN):
        return UNNAMED + name_for("imported and unknown", slug, name)
    return name_for("imported worker", slug, name)


# Keys of an import's campaigns, and conversions between values and ratings.
Floats = npt.NDArray[np.float64]
# The part of an import that a campaign has, as in its key. The import is read back from
# `ONE`, `PAIRS` and `ASIDE`; `WON` and `PAGES` repeat rows, for boards of preferences
# and for pages that showed several outputs.
ONE, PAIRS, ASIDE, WON, PAGES = "one", "pairs", "aside", "won", "pages"
MAGNITUDE = "magnitude"


def key_of(import_pk: int) -> str:
    """Return the prefix of the keys of an import's campaigns.

    Examples
    --------
    >>> key_of(3)
    'import:3:'
    """
    return f"import:{import_pk}:"


def as_kept(values: Floats, scale: str, *, lower_is_better: bool) -> Floats:
    """Return values as ratings: higher is better, and magnitudes are ratios.

    Examples
    --------
    >>> as_kept(np.array([0.0, 5.0]), "sum_-25_0", lower_is_better=True).tolist()
    [0.0, -5.0]
    """
    # not `-values`, which can be a negative zero
    signed = 0.0 - values if lower_is_better else values
    return values / 100 if scale == MAGNITUDE else signed


def as_found(ratings: Floats, scale: str, *, lower_is_better: bool) -> Floats:
    """Return ratings as values of the file; magnitudes may differ in the last digit."""
    signed = 0.0 - ratings if lower_is_better else ratings
    return ratings * 100 if scale == MAGNITUDE else signed


# The ratings of an imported task as they were in the files, not as boards use them.

_COUNTED = (Role.JUDGMENT,)


def judgments_of(task: Task) -> Judgments:
    """Read a task's imported ratings as in their files, with pseudonymous workers.

    Roles, values, words, spans, times and places are the reader's; columns without a
    place in `Judgments` are not stored. Files of a second import are numbered after the
    first's.

    Raises ValueError if the task has no imports.
    """
    import pandas as pd

    imports = list(task.imports.order_by("pk"))
    if not imports:
        raise ValueError(f"Nothing was imported into {task.slug}.")
    inputs = _Inputs(task)
    parts, before = [], 0
    for row in imports:
        rows = _rows(row, inputs)
        parts.append(rows.assign(file=rows["file"] + before))
        before += max(1, len(row.files))
    said = imports[0].said
    counted = {Role(name) for row in imports for name in row.counted} or {*_COUNTED}
    return Judgments(
        layout=imports[0].layout,
        rows=pd.concat(parts, ignore_index=True),
        counted=tuple(role for role in Role if role in counted),
        texts=inputs.texts(),
        documents=inputs.documents,
        domains=inputs.domains,
        languages=tuple(said.get("languages", ("", ""))),
        lower_is_better=tuple(
            dict.fromkeys(n for r in imports for n in r.said.get("lower_is_better", ()))
        ),
        standardised=bool(said.get("standardised")),
    )


class _Inputs:
    def __init__(self, task: Task) -> None:
        self._task = task
        self._called: dict[str, dict[str, str]] = {"instances": {}, "systems": {}}
        for row in task.imports.all():
            for kind, names in self._called.items():
                names |= row.said.get(kind, {})
        rows = list(
            task.instances.order_by("position").values_list(
                "pk", "instance_id", "fields", "references"
            )
        )
        self._rows = [(self.name_of("instances", kept), f, r) for _, kept, f, r in rows]
        self.of = {pk: self.name_of("instances", kept) for pk, kept, _, _ in rows}
        self.documents = self._field("document")
        self.domains = self._field("domain")

    def name_of(self, kind: str, kept: str) -> str:
        return self._called[kind].get(kept, kept)

    def _field(self, name: str) -> dict[str, str]:
        return {one: fields[name] for one, fields, _ in self._rows if name in fields}

    def texts(self) -> Texts:
        shown = {
            name: {k: t for k, t in fields.items() if k not in ("document", "domain")}
            for name, fields, _ in self._rows
        }
        rows = Prediction.objects.filter(submission__task=self._task).order_by("pk")
        outputs = rows.values_list("submission__system_name", "instance_id", "text")
        return Texts(
            {name: fields for name, fields in shown.items() if fields},
            {(self.name_of("systems", s), self.of[i]): text for s, i, text in outputs},
            {name: list(texts) for name, _, texts in self._rows if texts},
        )


def _rows(row: Import, inputs: _Inputs) -> pd.DataFrame:
    import pandas as pd

    campaigns = {
        pk: (key.split(":")[2], scale)
        for pk, key, scale in Campaign.objects.filter(
            key__startswith=key_of(row.pk)
        ).values_list("pk", "key", "hit_type__scale")
        if key.split(":")[2] in (ONE, PAIRS, ASIDE)
    }
    answers = Rating.objects.filter(item__campaign__in=campaigns).order_by("pk")
    columns = [
        "campaign",
        "item",
        "criterion",
        "value",
        "raw",
        "detail",
        "at",
        "seconds",
    ]
    found = pd.DataFrame.from_records(
        list(
            answers.values_list(
                "item__campaign_id",
                "item_id",
                "criterion",
                "value",
                "raw",
                "detail",
                "assignment__submitted_at",
                "assignment__active_seconds",
                "assignment__worker_id",
            )
        ),
        columns=[*columns, "worker"],
    )
    about = _of_items(campaigns, inputs)
    items = [about[item] for item in found["item"].tolist()]
    kinds, scales = (
        [campaigns[pk][n] for pk in found["campaign"].tolist()] for n in (0, 1)
    )
    details = found["detail"].tolist()
    # NaT, unlike None, differs from itself
    times = [at.timestamp() if at and at == at else None for at in found["at"]]
    names = row.said["criteria"]
    kept = zip(found["criterion"].tolist(), kinds, strict=True)
    called = [names[kind].get(criterion, criterion) for criterion, kind in kept]
    rows = frame(
        {
            "file": [one["row"][0] for one in details],
            "row": [one["row"][1] for one in details],
            **{
                name: [one.get(name, "") for one in items]
                for name in ("instance", "system", "other")
            },
            "role": [one.get("role", Role.JUDGMENT.value) for one in details],
            "worker": _workers(row.task, found["worker"].tolist()),
            "criterion": called,
            "value": _values(row, called, found["value"], kinds, scales, details),
            "word": _or(details, "word", found["raw"].tolist()),
            "page": [one.get("page", "") for one in details],
            "place": [one.get("place", -1) for one in details],
            "document": [
                one.get("document", inputs.documents.get(of["instance"], ""))
                for one, of in zip(details, items, strict=True)
            ],
            "at": _numbers(_or(details, "at", times)),
            "seconds": _numbers(_or(details, "seconds", found["seconds"].tolist())),
            "spans": [one.get("spans") for one in details],
        }
    )
    rows.index = [one["row"][2] for one in details]
    return rows.sort_index().reset_index(drop=True)


def _of_items(
    campaigns: Mapping[int, tuple[str, str]], inputs: _Inputs
) -> dict[int, dict[str, str]]:
    of_kind: dict[str, list[int]] = {}
    for pk, (kind, _) in campaigns.items():
        of_kind.setdefault(kind, []).append(pk)
    judged = Subject.objects.filter(item__campaign__in=campaigns)
    about: dict[int, dict[str, str]] = {}
    for item, instance, system in judged.values_list(
        "item_id", "instance_id", "item__campaign__asked__submission__system_name"
    ):
        about[item] = {"instance": inputs.of[instance]}
        if system is not None:
            about[item]["system"] = inputs.name_of("systems", system)
    slots = ShownOutput.objects.filter(
        subject__item__campaign__in=of_kind.get(PAIRS, [])
    )
    for item, slot, system in slots.values_list(
        "subject__item_id", "slot", "submission__system_name"
    ):
        name = "system" if slot == "A" else "other"
        about[item][name] = inputs.name_of("systems", system)
    aside = Item.objects.filter(campaign__in=of_kind.get(ASIDE, []))
    return about | {
        pk: {"instance": "", **data} for pk, data in aside.values_list("pk", "data")
    }


def _workers(task: Task, pks: list[int]) -> list[str]:
    called = {platform_worker_id(task.slug, ""): ""} | {
        platform_worker_id(task.slug, name): name
        for row in task.imports.all()
        for name in row.said.get("judges", ())
    }
    rows = Worker.objects.filter(assignments__hit__campaign__pool=task.slug).distinct()
    names = {
        pk: "" if key.startswith(UNNAMED) else called.get(key, name)
        for pk, key, name in rows.values_list("pk", "platform_worker_id", "pseudonym")
    }
    return [names[pk] for pk in pks]


def _values(
    row: Import,
    criteria: list[str],
    kept: pd.Series,
    kinds: list[str],
    scales: list[str],
    details: list[dict[str, Any]],
) -> list[float]:
    """Convert ratings to the values of the files, exact to the last bit."""
    lower = set(row.said.get("lower_is_better", ()))
    rated = np.array(kinds, object) == ONE
    values = kept.to_numpy(float).copy()
    of = np.array([*zip(criteria, scales, strict=True)], dtype=object).reshape(-1, 2)
    for criterion, scale in {tuple(one) for one in of[rated].tolist()}:
        own = rated & (of[:, 0] == criterion) & (of[:, 1] == scale)
        values[own] = as_found(values[own], scale, lower_is_better=criterion in lower)
    return _numbers(_or(details, "value", values.tolist()))


def _or(details: list[dict[str, Any]], name: str, usual: list[Any]) -> list[Any]:
    return [one.get(name, value) for one, value in zip(details, usual, strict=True)]


def _numbers(values: list[Any]) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


# Whether a task has published figures.
def with_published() -> QuerySet[Task]:
    """Return tasks annotated with `has_published`, which saves a query for each."""
    kept = PublishedFigure.objects.filter(task=OuterRef("pk"))
    return Task.objects.annotate(has_published=Exists(kept))
