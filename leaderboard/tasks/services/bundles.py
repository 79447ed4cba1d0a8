"""Import and export tasks as bundles."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from crowd import hit_templates
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.tasks import shipped
from leaderboard.tasks.drafts.bundle import DATA, DEFINITION, Bundle, bundle_of
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services import configuration
from leaderboard.tasks.services.archives import READER, Archive, release_table, texts_of
from leaderboard.tasks.services.load import (
    LoadReport,
    files_of,
    load_definition,
    templates_of,
)


@dataclass(frozen=True)
class Looked:
    """The effect of loading a bundle; no data was stored.

    `problems` has a sentence each, and is empty if the bundle can be loaded.
    `n_references` counts instances with references. `exists` is true if a task with
    this slug is loaded already.
    """

    problems: list[str]
    n_instances: int = 0
    n_references: int = 0
    exists: bool = False


def look_at(bundle: Bundle, archive: Archive | None = None) -> Looked:
    """Return all problems of a bundle at once, and its counts.

    Parameters
    ----------
    archive : Archive, optional
        The bundle's texts, if they have been read already.
    """
    problems = [*_problems(bundle)]
    exists = Task.objects.filter(slug=bundle.slug).exists()
    read = archive or _read(bundle)
    if read.release is None:
        return Looked([*problems, read.problem], exists=exists)
    rows = read.release.instances
    n_references = sum(bool(row.references) for row in rows)
    return Looked(problems, len(rows), n_references, exists)


def _problems(bundle: Bundle) -> list[str]:
    try:
        templates, found = templates_of(bundle.files), []
    except GenieError as error:
        templates, found = {}, [error.message]
    with hit_templates.at_hand(templates):
        misfits = configuration.misfits(bundle.document).all()
    # a broken one is not reported as missing, too
    keys = {f"{table}.hit_template" for table in ("human", "comparison", "joint")}
    return found + [str(one) for one in misfits if not (found and one.key in keys)]


def import_bundle(
    bundle: Bundle, *, by: Account | None = None, archive: Archive | None = None
) -> LoadReport:
    """Load the task of a bundle; loading the same one again changes nothing.

    Raises ``unusable-task`` with all problems, ``bad-bundle``, and the errors of
    `load_task`.
    """
    if bundle.slug in {*shipped.known_tasks()} - {*shipped.outside()}:
        raise GenieError(
            f"The task {bundle.slug} comes with Genie; give yours a different slug.",
            code="slug-taken",
        )
    read = archive or _read(bundle)
    if read.release is None:
        raise GenieError(
            f"The bundle {bundle.slug} cannot be loaded: {read.problem}",
            code="bad-bundle",
        )
    return load_definition(
        bundle.slug, dict(bundle.document), read.release, files=bundle.files, by=by
    )


def _read(bundle: Bundle) -> Archive:
    with TemporaryDirectory(prefix="genie-bundle-") as folder:
        return texts_of(bundle, folder)


def export_bundle(task: Task, *, with_references: bool) -> Bundle:
    """Return a loaded task as a bundle; the same task gives the same bytes.

    Without its hidden references, the bundle is for inspection only: loading it would
    create a different test set.
    """
    withheld = task.hidden_references and not with_references
    names = list(task.field_labels)
    rows = (
        (
            row.instance_id,
            _in_order(row.fields, names),
            [] if withheld else row.references,
        )
        for row in Instance.objects.filter(task=task).order_by("position").iterator()
    )
    bundle = bundle_of(_definition(task), rows)
    files = files_of(task, with_references=not withheld)
    files[DATA] = bundle.files[DATA]
    # As uploaded, with its comments, unless its meaning has changed since.
    if not _says(files.get(DEFINITION), bundle.document):
        files[DEFINITION] = bundle.files[DEFINITION]
    return Bundle(bundle.slug, bundle.document, files)


def _says(definition: bytes | None, document: Mapping[str, Any]) -> bool:
    return definition is not None and (
        tomllib.loads(definition.decode("utf-8-sig")) == document
    )


def _in_order(fields: Mapping[str, str], names: list[str]) -> dict[str, str]:
    """Order an instance's fields as they are shown; a database may reorder them."""
    listed = [name for name in names if name in fields]
    others = sorted(name for name in fields if name not in names)
    return {name: fields[name] for name in (*listed, *others)}


def _definition(task: Task) -> dict[str, Any]:
    release = release_table(task.config)
    if release.get("reader") != READER or "split" in release.get("options", {}):
        release = {"reader": READER}
    if bool(release.get("hidden_references")) != task.hidden_references:
        release = {**release, "hidden_references": task.hidden_references}
    return {**task.config, "release": release}
