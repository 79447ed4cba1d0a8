"""Load a benchmark task once, from its official release or its bundle."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from django.db import transaction
from django.db.models import F

from crowd import hit_templates
from crowd.hit_templates import HITTemplate, foreign
from crowd.hits.models import Pool, Rating
from crowd.money.models import Budget
from genie.lib.errors import GenieError
from genie.lib.seeds import generator
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.designs.base import document_name
from leaderboard.tasks import shipped
from leaderboard.tasks.config import TaskConfig, read_task
from leaderboard.tasks.config.differences import differences, incomparable, is_wording
from leaderboard.tasks.drafts.bundle import DATA
from leaderboard.tasks.drafts.documents import whole_first
from leaderboard.tasks.models import Instance, Task, TaskFile, TaskRevision
from leaderboard.tasks.readers import Release, all_readers, read_release
from leaderboard.tasks.readers.base import ReleaseInstance, release_of
from leaderboard.tasks.services.configuration import usable

# Files of a bundle besides task.toml and its texts: HIT templates and others.
TEMPLATES = "templates"
MOST_BYTES = 16 << 20
# templates/NAME/FILE
_DEPTH = 3


def templates_of(files: Mapping[str, bytes]) -> dict[str, HITTemplate]:
    """Read the HIT templates of a bundle and check that its files can be stored.

    Raises ``bad-bundle``, ``unusable-template``, ``template-taken``.
    """
    if sum(len(data) for path, data in files.items() if path != DATA) > MOST_BYTES:
        raise GenieError(
            f"The bundle cannot be used: beside {DATA}, its files may have "
            f"{MOST_BYTES >> 20} MB together.",
            code="bad-bundle",
        )
    templates = {}
    for slug, parts in _parts(files).items():
        templates[slug] = foreign.read(slug, parts)
        hit_templates.refuse_other(slug, _texts(parts))
    return templates


def keep_files(task: Task, files: Mapping[str, bytes]) -> None:
    """Store the files of a task's bundle in place of the earlier ones.

    `templates_of` has checked them.
    """
    for slug, parts in _parts(files).items():
        hit_templates.keep(slug, _texts(parts))
    kept = {path: data for path, data in files.items() if path != DATA}
    before = {row.path: bytes(row.data) for row in task.files.all()}
    task.files.exclude(path__in=kept).delete()
    TaskFile.objects.bulk_create(
        [
            TaskFile(task=task, path=path, data=data)
            for path, data in kept.items()
            if before.get(path) != data
        ],
        update_conflicts=True,
        update_fields=["data"],
        unique_fields=["task", "path"],
    )


def files_of(task: Task, *, with_references: bool) -> dict[str, bytes]:
    """Return the files that came with a task, and the HIT templates that it uses.

    Without `with_references`, only the templates: the other files could contain
    references.
    """
    files = {
        row.path: bytes(row.data)
        for row in task.files.all()
        if with_references or _template_of(row.path)
    }
    config = task.configuration
    for human in (config.human, config.comparison, config.joint):
        slug = human.hit_template
        if slug and slug not in hit_templates.all_templates():
            for name, text in (hit_templates.files_of(slug) or {}).items():
                files.setdefault(f"{TEMPLATES}/{slug}/{name}", text.encode())
    return files


def _parts(files: Mapping[str, bytes]) -> dict[str, dict[str, bytes]]:
    found: defaultdict[str, dict[str, bytes]] = defaultdict(dict)
    for path, data in files.items():
        if slug := _template_of(path):
            found[slug]["/".join(PurePosixPath(path).parts[2:])] = data
    return dict(sorted(found.items()))


def _template_of(path: str) -> str:
    parts = PurePosixPath(path).parts
    return parts[1] if parts[0] == TEMPLATES and len(parts) >= _DEPTH else ""


def _texts(parts: Mapping[str, bytes]) -> dict[str, str]:
    return {name: data.decode("utf-8") for name, data in sorted(parts.items())}


# Change a loaded task, with author and time, and never so that scores mix.


def begin_revision(task: Task, *, by: Account | None = None) -> None:
    """Store a task's first revision: its task.toml at loading."""
    TaskRevision.objects.get_or_create(
        task=task,
        number=1,
        defaults={"config": task.config, "by_id": by.pk if by else None},
    )


@transaction.atomic
def revise(
    task: Task,
    document: Mapping[str, Any],
    *,
    by: Account | None = None,
    because: str = "",
    reworded: bool = False,
) -> TaskRevision | None:
    """Store a changed task.toml as a revision; None if its meaning is the same.

    Raises ``incomparable`` if people have answered already and the board would mix
    scores from before and after, or would change which raters its results are about;
    questions may be `reworded`.
    """
    # Two changes at once get two numbers.
    Task.objects.select_for_update().get(pk=task.pk)
    old, new = task.configuration, _read(document)
    changes = differences(old, new)
    if not changes:
        return None
    apart = incomparable(changes, old, new, task.human_evaluations.tables_asked())
    if reworded:
        apart = [one for one in apart if not is_wording(one, *changes.get(one, ()))]
    if apart:
        raise GenieError(
            f"People have already been asked about {task.title}, and a change of "
            f"{', '.join(apart)} would put scores on one board that cannot be compared. "
            "Load it under a different slug as a new version.",
            code="incomparable",
            details={"keys": apart},
        )
    if "human.raters" in changes:
        refuse_if_rated(task)
    begin_revision(task)
    return TaskRevision.objects.create(
        task=task,
        number=task.revisions.count() + 1,
        config=dict(document),
        changes=changes,
        by_id=by.pk if by else None,
        because=because[:500],
    )


def refuse_if_rated(task: Task) -> None:
    if Rating.objects.filter(item__campaign__pool=task.slug).exists():
        raise GenieError(
            f"{task.title} has its first rating, so you can no longer change which "
            "raters its results are about.",
            code="incomparable",
        )


def _read(document: Mapping[str, Any]) -> TaskConfig:
    # As the row is read: dates and similar values are stored as texts.
    return read_task(
        json.loads(json.dumps(document)), hit_templates.stored_templates()
    ).config


N_NAMED = 20
# keys of task.toml with a column each
COLUMNS = (
    *("title", "kind", "summary", "description", "licence", "homepage", "citation"),
    *("source_language", "target_language", "demo", "version_of"),
)


@dataclass(frozen=True)
class LoadReport:
    task: Task
    created: bool
    n_instances: int


def load_task(
    slug: str,
    source: Path | str | None = None,
    *,
    hide_references: bool = False,
    reader: str | None = None,
) -> LoadReport:
    """Load a task. The same release again changes nothing; a different one is refused.

    `reader` is for a release in a different layout from the task's.
    """
    return load_definition(
        slug,
        shipped.definition(slug),
        shipped.data_of(slug) if source is None else source,
        hide_references=hide_references,
        reader=reader,
        files=shipped.templates_of(slug) or None,
    )


def load_definition(
    slug: str,
    document: dict[str, Any],
    source: Path | str | Release | None,
    *,
    hide_references: bool = False,
    reader: str | None = None,
    files: Mapping[str, bytes] | None = None,
    by: Account | None = None,
) -> LoadReport:
    """Load a task by its parsed task.toml.

    `files` are those of its bundle, and are stored with the task.
    """
    with hit_templates.at_hand(templates_of(files or {})):
        # invalid metrics and questions are refused before any write
        config = usable(slug, document)
        release = _release(config, source, reader)
        return _load(config, document, release, hide_references, files, by)


def _release(
    config: TaskConfig, source: Path | str | Release | None, reader: str | None
) -> Release:
    if isinstance(source, Release):
        return source
    named = config.release
    return read_release(
        reader or named.reader,
        source if source is not None else _refuse_without_source(config),
        named.options if reader in (None, named.reader) else {},
    )


@transaction.atomic
def _load(
    config: TaskConfig,
    document: dict[str, Any],
    release: Release,
    hide_references: bool,
    files: Mapping[str, bytes] | None,
    by: Account | None,
) -> LoadReport:
    slug = config.slug
    _refuse_unknown_field(config, release)
    existing = Task.objects.filter(slug=slug).first()
    # Hidden references stay hidden, even if a later load does not ask for it.
    hidden = (
        hide_references
        or config.release.hidden_references
        or (existing is not None and existing.hidden_references)
    )
    described = {
        **_column_values(config),
        "hidden_references": hidden,
        "config": document,
    }
    if existing is not None:
        if existing.release_sha256 != release.sha256:
            _refuse_changed(existing, release)
        if files is not None:
            keep_files(existing, files)
        _refuse_cut(existing, config)
        _refresh(existing, described, by)
        return LoadReport(existing, created=False, n_instances=existing.n_instances)
    task = _create(slug, release, described, config)
    if files is not None:
        keep_files(task, files)
    begin_revision(task, by=by)
    if config.budget.cents:
        # Values that staff set in the admin are kept.
        Budget.objects.get_or_create(
            pool_id=slug, defaults={"limit_cents": config.budget.cents}
        )
    return LoadReport(task, created=True, n_instances=task.n_instances)


def _refuse_cut(task: Task, config: TaskConfig) -> None:
    """Refuse a new sample size that would split a document of a loaded task."""
    page_by, n, now = config.page_by, config.human.sample_size, task.configuration
    if not page_by or (page_by, n) == (now.page_by, now.human.sample_size):
        return
    sides: dict[bool, set[str]] = {True: set(), False: set()}
    for name, fields, rank in task.instances.values_list(
        "instance_id", "fields", "sample_rank"
    ):
        sides[rank < n].add(document_name(page_by, name, fields))
    if (sides[True] & sides[False]) - {""}:
        raise GenieError(
            f"A sample of {n} would cut documents of {task.title}, whose instances are "
            "drawn already; load it under another slug as a new version.",
            code="incomparable",
        )


def add_instances(task: Task, new: Mapping[str, Any], *, by: Account) -> list[Instance]:
    """Add instances to the sample, behind the present ones, in the caller's transaction."""
    n, size, more = task.n_instances, task.sample_size, len(new)
    spare = task.instances.filter(sample_rank__gte=size)
    spare.update(sample_rank=F("sample_rank") + more)
    rows = [
        ReleaseInstance(key, one.fields, one.references) for key, one in new.items()
    ]
    stored = _store(task, rows, n, range(size, size + more))
    every = task.instances.order_by("position")
    columns = every.values_list("instance_id", "fields", "references")
    task.release_sha256 = release_of(starmap(ReleaseInstance, columns), {}).sha256
    task.n_instances = n + more
    task.save(update_fields=["release_sha256", "n_instances"])
    human = {"sample_size": max(size + more, task.human.sample_size)}
    document = {**task.config, "human": {**task.config["human"], **human}}
    change(task, document, by=by, because=f"{more:,} inputs were added.")
    return stored


def _store(
    task: Task, rows: Iterable[ReleaseInstance], start: int, ranks: Sequence[int]
) -> list[Instance]:
    return Instance.objects.bulk_create(
        [
            Instance(
                task=task,
                instance_id=one.id,
                position=start + place,
                fields=one.fields,
                references=one.references,
                sample_rank=ranks[place],
            )
            for place, one in enumerate(rows)
        ],
        batch_size=2_000,
    )


def change(task: Task, document: dict[str, Any], *, by: Account, **said: Any) -> None:
    """Change a loaded task's task.toml; its instances stay.

    Raises ``unusable-task``, and ``incomparable`` if the change needs a new version.
    """
    config = usable(task.slug, document)
    _refuse_cut(task, config)
    _refresh(task, {**_column_values(config), "config": document}, by, **said)


def _refuse_unknown_field(config: TaskConfig, release: Release) -> None:
    fields = dict.fromkeys(name for one in release.instances for name in one.fields)
    for table in ("human", "comparison", "joint"):
        named = getattr(config, table).page_by
        if named not in {"", "id", *fields}:
            raise GenieError(
                f"{config.slug}/task.toml: {table}.page_by is {named!r}, which no "
                f"instance has; use id or one of {', '.join(fields)}.",
                code="unusable-task",
            )


def _refuse_without_source(config: TaskConfig) -> NoReturn:
    reader = config.release.reader
    raise GenieError(
        f"Name the folder with the release of {config.title}: --source DIR. DIR "
        f"contains {all_readers()[reader].layout} ({reader}), or another layout "
        f"named with --reader. The texts come from {config.homepage}; the site's page "
        f"/docs/tasks/{config.slug}/ says how to get them.",
        code="source-missing",
    )


def _ranks(config: TaskConfig, release: Release, seed: int) -> list[int]:
    """Draw the order in which instances are rated, by whole documents on shared pages.

    Raises ``unusable-task`` if the sample would end within a document.
    """
    random, page_by = generator(seed), config.page_by
    if not page_by:
        return [int(rank) for rank in random.permutation(len(release.instances))]
    names = [document_name(page_by, one.id, one.fields) for one in release.instances]
    n = min(config.human.sample_size, len(names))
    order, whole = whole_first(names, n, random.permutation)
    if whole != n:
        raise GenieError(
            f"{config.slug}/task.toml: human.sample_size is {n}, which would cut a "
            f"document; set it to {whole}, so that whole documents are judged.",
            code="unusable-task",
        )
    return [rank for _, rank in sorted(zip(order, range(len(order)), strict=True))]


def _create(
    slug: str, release: Release, described: Mapping[str, object], config: TaskConfig
) -> Task:
    # Test questions use instances outside the sample: the order must not be guessable.
    seed = seed_for("sample", slug, release.sha256)
    Pool.objects.get_or_create(slug=slug)
    task = Task.objects.create(
        slug=slug,
        release_sha256=release.sha256,
        release_files=release.files,
        n_instances=len(release.instances),
        sample_seed=seed,
        **described,
    )
    _store(task, release.instances, 0, _ranks(config, release, seed))
    return task


@transaction.atomic
def _refresh(
    task: Task, described: Mapping[str, object], by: Account | None, **said: Any
) -> None:
    document = described["config"]
    if isinstance(document, Mapping):
        revise(task, document, by=by, **said)
    if any(getattr(task, name) != value for name, value in described.items()):
        Task.objects.filter(pk=task.pk).update(**described)
        task.refresh_from_db()


def _column_values(config: TaskConfig) -> dict[str, object]:
    return {name: getattr(config, name) for name in COLUMNS}


def _refuse_changed(task: Task, release: Release) -> None:
    known = {
        row["instance_id"]: (row["fields"], row["references"])
        for row in task.instances.values("instance_id", "fields", "references")
    }
    released = {i.id: (i.fields, i.references) for i in release.instances}
    added = [key for key in released if key not in known]
    removed = [key for key in known if key not in released]
    changed = [key for key in released if key in known and released[key] != known[key]]
    if not (added or removed or changed):
        raise GenieError(
            f"The release of {task.title} has the same instances as the loaded "
            "one, but in a different order, which stored results depend on.",
            code="release-changed",
        )
    raise GenieError(
        f"The release of {task.title} differs from the loaded one: {len(added)} "
        f"instances added{_name_ids(added)}, {len(removed)} "
        f"removed{_name_ids(removed)}, {len(changed)} changed{_name_ids(changed)}. "
        "Scores on different instances cannot share a leaderboard. Load it under a "
        "different slug.",
        code="release-changed",
        details={
            "added": added[:N_NAMED],
            "removed": removed[:N_NAMED],
            "changed": changed[:N_NAMED],
            "n_added": len(added),
            "n_removed": len(removed),
            "n_changed": len(changed),
        },
    )


def _name_ids(ids: list[str]) -> str:
    if not ids:
        return ""
    more = ", …" if len(ids) > N_NAMED else ""
    return f" ({', '.join(ids[:N_NAMED])}{more})"


# Versions of a task: changes that make scores incomparable create a new one.
def versions_of(task: Task) -> list[Task]:
    """Return all versions of a task on this site, the first one first.

    A version refers to the one before it, which may exist on another site only; two may
    follow one. Empty if there is only one.
    """
    first, seen = task, {task.slug}
    while first.version_of and first.version_of not in seen:
        before = Task.objects.filter(slug=first.version_of).first()
        if before is None:
            break
        first = before
        seen.add(first.slug)
    found, newest = [first], [first.slug]
    known = {first.slug}
    while newest:
        later = Task.objects.filter(version_of__in=newest).exclude(slug__in=known)
        rows = list(later.order_by("pk"))
        found += rows
        newest = [row.slug for row in rows]
        known.update(newest)
    return found if len(found) > 1 else []


def next_slug(task: Task) -> tuple[str, int]:
    """Return the slug of the next version, and its number."""
    stem = re.sub(r"-\d+$", "", task.slug) if task.version_of else task.slug
    number = max(len(versions_of(task)), 1) + 1
    while Task.objects.filter(slug=f"{stem[:95]}-{number}").exists():
        number += 1
    return f"{stem[:95]}-{number}", number
