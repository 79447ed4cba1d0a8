"""Import ratings into this site: completely, or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from io import SEEK_END, BytesIO
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from django.db import transaction
from django.utils import timezone

from crowd.scales.base import PREFERRED
from crowd.workers.models.worker import Worker
from genie.lib.database import count_anew
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.designs.one_output import ErrorSpans
from leaderboard.files import File
from leaderboard.imports.models import Import
from leaderboard.imports.readers.judgments import Judgments, Role, told
from leaderboard.imports.readers.people import kept_name
from leaderboard.imports.selectors import (
    ASIDE,
    ONE,
    PAIRS,
    PLATFORM,
    UNKNOWN,
    About,
    platform_worker_id,
    told_by_rows,
)
from leaderboard.imports.services import campaigns, plan
from leaderboard.imports.services import campaigns as tasks
from leaderboard.imports.services.measures import (
    INSTANCE,
    SYSTEM,
    Measure,
    changed_names,
    check_severities,
    fit_names,
    measures,
)
from leaderboard.imports.services.plan import scales_of, settle
from leaderboard.imports.services.write import (
    WRITTEN,
    Known,
    predict,
    score_imported,
    submissions_of,
    write,
)
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.load import refuse_if_rated

if TYPE_CHECKING:
    import pandas as pd


# Imported raters, as workers without an account.
_BATCH = 2_000


def workers_of(slug: str, names: Iterable[str]) -> dict[str, int]:
    """Return the worker of each name; new ones are created, excluded from all work."""
    id_of = {name: platform_worker_id(slug, name) for name in dict.fromkeys(names)}
    Worker.objects.bulk_create(
        [
            Worker(platform=PLATFORM, platform_worker_id=key, excluded=True)
            for key in id_of.values()
        ],
        batch_size=_BATCH,
        ignore_conflicts=True,
    )
    found: dict[str, int] = {}
    keys = list(id_of.values())
    for start in range(0, len(keys), 500):
        rows = Worker.objects.filter(
            platform=PLATFORM, platform_worker_id__in=keys[start : start + 500]
        )
        found |= dict(rows.values_list("platform_worker_id", "pk"))
    return {name: found[key] for name, key in id_of.items()}


# After so many new rows the database needs new statistics for its query plans.
MANY = 1_000
# Each has a submission and scores; a wrong column has as many values as rows.
MOST_SYSTEMS = 2_000
# Receives the current step, the amount done and the total. It may raise to cancel, and
# then no data is stored.
Tell = Callable[[str, int, int], None]


def bring_in(
    judgments: Judgments,
    *,
    slug: str,
    by: Account,
    about: About | None = None,
    files: Sequence[File] = (),
    tell: Tell = lambda what, done, of: None,
) -> Import:
    """Store ratings as a task with a board, or as another wave of an existing one.

    Rows that do not count are stored aside, with their role. All is stored in one
    transaction; scores are computed afterwards, and the queue resumes interrupted
    computations.

    Raises ``no-judgments``, ``bad-slug``, ``not-imported``, ``imported-already``,
    ``not-on-the-scale``, ``too-many-systems``, ``slug-taken`` if the task was made or
    taken back meanwhile.
    """
    about = about or About()
    tasks.check_slug(slug)
    planned = check(judgments, slug=slug, about=about, files=files)
    with transaction.atomic():
        _refuse_overtaken(planned, slug, files)
        row = _store(judgments, planned, slug, by, about, files, tell)
    score_imported(row.task, tell)
    return row


class Planned:
    """The plan of an import; its constructor refuses what cannot be stored."""

    def __init__(
        self,
        judgments: Judgments,
        task: Task | None,
        about: About,
        files: Sequence[File],
    ) -> None:
        self.task = task
        self.rows = plan.ratings_of(judgments)
        self.names = plan.criteria_of(judgments, *campaigns.criteria_before(task))
        if task is not None and task.human.design == ErrorSpans.slug:
            check_severities(self.rows)
        _refuse_other_meaning(task, judgments, self.rows["criterion"].unique())
        before = scales_of(task)
        self.measures = measures(
            self.rows, judgments, said=about.scales, before=before, files=files
        )
        # scales whose ends moved: old name -> new name
        self.moved = {
            before[name][0]: one.scale
            for name, one in self.measures.items()
            if name in before and before[name][0] != one.scale
        }
        self.parts = plan.parts(judgments, self.measures, self.names)

    @property
    def counted_rows(self) -> pd.DataFrame:
        """The rows that count: ratings, then preferences."""
        import pandas as pd

        kinds = (ONE, PAIRS)
        return pd.concat([part.rows for part in self.parts if part.kind in kinds])

    def criteria(self, about: About) -> dict[str, tuple[str, Measure]]:
        """Return question and measure of each criterion; the first one ranks."""
        found = {
            kept: (about.questions.get(name) or name or kept, self.measures[name])
            for name, kept in self.names.rated.items()
        }
        return found | {
            kept: (about.questions.get(name) or name or kept, Measure(PREFERRED))
            for name, kept in self.names.paired.items()
        }


def check(
    judgments: Judgments,
    *,
    slug: str,
    about: About | None = None,
    files: Sequence[File] = (),
) -> Planned:
    """Plan an import without writing.

    It raises the errors of `bring_in`. Without a slug, no database is needed.
    """
    task = tasks.known_task(slug) if slug else None
    if task is not None:
        _refuse_again(task, files)
    if not plan.n_counted(judgments):
        raise GenieError(
            "No row of these files rates a system with a number, so no ranking is "
            "possible.",
            code="no-judgments",
        )
    n = judgments.judged["system"].nunique()
    if n > MOST_SYSTEMS:
        raise GenieError(
            f"These files name {n:,} systems, and a board has {MOST_SYSTEMS:,} at most: "
            "the wrong column may have been read as the system name.",
            code="too-many-systems",
        )
    about = about or About()
    if task is not None and about.raters not in ("", task.human.population):
        refuse_if_rated(task)
    _, _, refused = settle(judgments, task, about, files)
    if refused:
        raise GenieError(" ".join(refused), code="not-settled")
    return Planned(judgments, task, about, files)


def _refuse_again(task: Task, files: Sequence[File]) -> None:
    known = {
        one["sha256"]: one["name"] for row in task.imports.all() for one in row.files
    }
    for one in describe_files(files):
        if one["sha256"] in known:
            raise GenieError(
                f"{one['name']} has been imported into {task.title} already, as "
                f"{known[one['sha256']]}. Take that import back first, or choose another "
                "task.",
                code="imported-already",
            )


def _refuse_overtaken(planned: Planned, slug: str, files: Sequence[File]) -> None:
    now = Task.objects.select_for_update().filter(slug=slug).first()
    if now is not None:
        _refuse_again(now, files)
    if (now is None) != (planned.task is None):
        raise GenieError(
            f"The task {slug} was made or taken back meanwhile; try again.",
            code="slug-taken",
        )


def describe_files(files: Sequence[File]) -> list[dict[str, Any]]:
    """Return each file's name without folders, sha256 and bytes."""
    found = []
    for one in files:
        with one.stream() as stream:
            sha256 = hashlib.file_digest(cast("BytesIO", stream), "sha256")
            n_bytes = stream.seek(0, SEEK_END)
        about = {"sha256": sha256.hexdigest(), "bytes": n_bytes}
        found.append({"name": kept_name(one.name), **about})
    return found


def _refuse_other_meaning(
    task: Task | None, judgments: Judgments, criteria: Iterable[str]
) -> None:
    for row in task.imports.all() if task else ():
        before = row.said
        for name in set(criteria) & set(before.get("scales", {})):
            lower = name in judgments.lower_is_better
            differ = (
                "smaller values are better in one of them"
                if lower != (name in before.get("lower_is_better", ()))
                else "the values of one of them are standardized"
                if judgments.standardised != bool(before.get("standardised"))
                else ""
            )
            if differ:
                raise GenieError(
                    f"These files and an earlier import do not mean the same by {name!r}: "
                    f"{differ}. Choose another name for the task.",
                    code="not-on-the-scale",
                )


def _store(
    judgments: Judgments,
    planned: Planned,
    slug: str,
    by: Account,
    about: About,
    files: Sequence[File],
    tell: Tell,
) -> Import:
    rows, counted = judgments.rows, planned.counted_rows
    ids = fit_names(rows["instance"].unique(), INSTANCE)
    instances = tasks.instances_in(judgments, counted)
    ids |= fit_names(instances, INSTANCE)
    judged = {ids[name] for name in counted["instance"].unique()}
    task, criteria = planned.task, planned.criteria(about)
    questions = {name: question for name, (question, _) in criteria.items()}
    if task is None:
        task = tasks.make_task(
            slug, judgments, instances, ids, criteria, about=about, by=by
        )
    else:
        tasks.extend_task(task, judgments, instances, ids)
        campaigns.move_ends(task, planned.moved)
    names = fit_names(
        [*counted["system"].unique(), *counted["other"].replace("", np.nan).dropna()],
        SYSTEM,
    )
    judged_by = {name for one in planned.parts for name in one.rows["worker"]}
    workers = workers_of(slug, sorted(judged_by))
    row = Import.objects.create(
        task=task,
        layout=judgments.layout,
        choices=dict(about.choices),
        files=describe_files(files),
        source=about.source[:500],
        licence=about.licence[:200],
        citation=about.citation,
        known={**told_by_rows(judgments), **about.known},
        said={
            "languages": list(judgments.languages),
            "lower_is_better": list(judgments.lower_is_better),
            "standardised": judgments.standardised,
            "judges": _judges(judgments),
            "scales": {name: one.scale for name, one in planned.measures.items()},
            "instances": changed_names(dict(ids)),
            "systems": changed_names(dict(names)),
            "criteria": {
                kind: changed_names(pairs)
                for kind, pairs in (
                    (ONE, planned.names.rated),
                    (PAIRS, planned.names.paired),
                    (ASIDE, planned.names.aside),
                )
            },
            "unnamed": bool((counted["worker"].str.startswith(UNKNOWN)).any()),
            "unjudged": sorted({ids[name] for name in instances} - judged),
        },
        roles=judgments.n_by_role(),
        counted=[role.value for role in judgments.counted],
        n_workers=sum(
            not one.startswith(UNKNOWN) for one in counted["worker"].unique()
        ),
        problems=_problems(judgments),
        imported_by=by,
    )
    of_system = submissions_of(row, names, by=by)
    by_name, documents = tasks.store_inputs(
        task, {name: ids[name] for name in instances}
    )
    predict(judgments.texts, of_system, by_name)
    known = Known(task, by_name, of_system, workers, ids, documents, timezone.now())
    n, done = sum(len(part.rows) for part in planned.parts), 0

    def report_stored(more: int) -> None:
        nonlocal done
        done += more
        tell("rows", done, n)

    for part in planned.parts:
        places = campaigns.places_of(row, part, of_system, questions, by=by)
        write(part, places, known, report_stored)
    campaigns.count_instances(task)
    tasks.ask_criteria(task, campaigns.asked_hit_types(task))
    if n >= MANY:
        # the next computation reads them all, and without new statistics the database
        # plans for small tables, which can take hours
        count_anew(*WRITTEN)
    return row


def _judges(judgments: Judgments) -> list[str]:
    workers, roles = judgments.rows["worker"], judgments.rows["role"]
    by_program = roles == Role.PREDICTION.value
    people = set(workers[~by_program])
    return sorted({str(name) for name in workers[by_program]} - people - {""})


def _problems(judgments: Judgments) -> list[str]:
    unknown = (
        "Some rows have no rater, so intervals and ranks do not account for raters."
    )
    problems = [told(problem) for problem in judgments.problems[:1_000]]
    return problems + [unknown] * bool((judgments.rows["worker"] == "").any())
