"""Load a benchmark task once, from its official release or its bundle."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from django.db import transaction

from crowd import hit_templates
from crowd.money.models import Budget
from genie.lib.errors import GenieError
from genie.lib.seeds import generator
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.designs.base import document_name
from leaderboard.tasks import shipped
from leaderboard.tasks.config import TaskConfig
from leaderboard.tasks.drafts.documents import whole_first
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.readers import Release, all_readers, read_release
from leaderboard.tasks.services import brought, revisions
from leaderboard.tasks.services.fitting import usable

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
    with hit_templates.at_hand(brought.templates_of(files or {})):
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
    described = {**_described(config), "hidden_references": hidden, "config": document}
    if existing is not None:
        if existing.release_sha256 != release.sha256:
            _refuse_changed(existing, release)
        if files is not None:
            brought.keep(existing, files)
        _refuse_cut(existing, config)
        _refresh(existing, described, by)
        return LoadReport(existing, created=False, n_instances=existing.n_instances)
    task = _create(slug, release, described, config)
    if files is not None:
        brought.keep(task, files)
    revisions.begin(task, by=by)
    if config.budget.cents:
        # Values that staff set in the admin are kept.
        Budget.objects.get_or_create(
            pool=slug, defaults={"limit_cents": config.budget.cents}
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


def change(
    task: Task, document: dict[str, Any], *, by: Account, because: str = ""
) -> None:
    """Change a loaded task's task.toml; its instances stay.

    Raises ``unusable-task``, and ``incomparable`` if the change needs a new version.
    """
    config = usable(task.slug, document)
    _refuse_cut(task, config)
    _refresh(task, {**_described(config), "config": document}, by, because)


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
    task = Task.objects.create(
        slug=slug,
        release_sha256=release.sha256,
        release_files=release.files,
        n_instances=len(release.instances),
        sample_seed=seed,
        **described,
    )
    ranks = _ranks(config, release, seed)
    Instance.objects.bulk_create(
        [
            Instance(
                task=task,
                instance_id=instance.id,
                position=position,
                fields=instance.fields,
                references=instance.references,
                sample_rank=ranks[position],
            )
            for position, instance in enumerate(release.instances)
        ],
        batch_size=2_000,
    )
    return task


@transaction.atomic
def _refresh(
    task: Task,
    described: Mapping[str, object],
    by: Account | None,
    because: str = "",
) -> None:
    document = described["config"]
    if isinstance(document, Mapping):
        revisions.revise(task, document, by=by, because=because)
    if any(getattr(task, name) != value for name, value in described.items()):
        Task.objects.filter(pk=task.pk).update(**described)
        task.refresh_from_db()


def _described(config: TaskConfig) -> dict[str, object]:
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
            "one, but in another order, which stored results depend on.",
            code="release-changed",
        )
    raise GenieError(
        f"The release of {task.title} differs from the loaded one: {len(added)} "
        f"instances added{_named(added)}, {len(removed)} "
        f"removed{_named(removed)}, {len(changed)} changed{_named(changed)}. "
        "Scores on different instances cannot share a leaderboard; load it "
        "under another slug.",
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


def _named(ids: list[str]) -> str:
    if not ids:
        return ""
    more = ", …" if len(ids) > N_NAMED else ""
    return f" ({', '.join(ids[:N_NAMED])}{more})"
