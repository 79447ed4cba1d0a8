"""Tasks in and out as bundles: loaded from one, written as one, by one service each."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.tasks import shipped
from leaderboard.tasks.drafts.bundle import DATA, Bundle, bundle_of
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.readers import read_release
from leaderboard.tasks.services import fitting
from leaderboard.tasks.services.load import LoadReport, load_definition

READER = "demo-jsonl"


@dataclass(frozen=True)
class Looked:
    """What loading a bundle would do: nothing has been kept.

    Parameters
    ----------
    problems : list of str
        All that is wrong, a sentence each; empty where it can be loaded.
    n_instances : int
    n_references : int
        Instances that have any.
    exists : bool
        Whether a task of this slug is loaded already.
    """

    problems: list[str]
    n_instances: int = 0
    n_references: int = 0
    exists: bool = False


def look_at(bundle: Bundle) -> Looked:
    """Say all that is wrong with a bundle at once, and what is in it."""
    problems = [str(one) for one in fitting.misfits(bundle.document).all()]
    exists = Task.objects.filter(slug=bundle.slug).exists()
    if DATA not in bundle.files:
        problems.append(f"{DATA}: is missing; a bundle brings its texts along.")
        return Looked(problems, exists=exists)
    try:
        with _as_folder(bundle) as folder:
            release = _release(bundle.document)
            options = release.get("options")
            rows = read_release(
                str(release.get("reader", READER)),
                folder,
                options if isinstance(options, Mapping) else {},
            ).instances
    except GenieError as error:
        return Looked([*problems, error.message], exists=exists)
    n_references = sum(bool(row.references) for row in rows)
    return Looked(problems, len(rows), n_references, exists)


def import_bundle(bundle: Bundle, *, by: Account | None = None) -> LoadReport:
    """Load the task of a bundle; the same one again changes nothing.

    Raises
    ------
    GenieError
        ``unusable-task`` with all problems, ``bad-bundle``, and what `load_task` refuses.
    """
    if DATA not in bundle.files:
        raise GenieError(
            f"The bundle {bundle.slug} has no {DATA} with its texts.", code="bad-bundle"
        )
    if bundle.slug in {*shipped.known()} - {*shipped.outside()}:
        raise GenieError(
            f"The task {bundle.slug} comes with Genie; give yours another slug.",
            code="slug-taken",
        )
    with _as_folder(bundle) as folder:
        return load_definition(bundle.slug, dict(bundle.document), folder, by=by)


def export_bundle(task: Task, *, with_references: bool) -> Bundle:
    """Write a loaded task as a bundle; the same task gives the same bytes.

    Parameters
    ----------
    task : Task
    with_references : bool
        Whether who asks may see hidden references. Without them, the bundle is for
        looking at: it is another test set when it is loaded.
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
    return bundle_of(_definition(task), rows)


def _in_order(fields: Mapping[str, str], names: list[str]) -> dict[str, str]:
    """Order an instance's fields as they are shown; a database may sort them."""
    listed = [name for name in names if name in fields]
    others = sorted(name for name in fields if name not in names)
    return {name: fields[name] for name in (*listed, *others)}


def _definition(task: Task) -> dict[str, Any]:
    """Say in task.toml what the bundle's data are, whatever release they came from."""
    release = _release(task.config)
    if release.get("reader") != READER or "split" in release.get("options", {}):
        release = {"reader": READER}
    if bool(release.get("hidden_references")) != task.hidden_references:
        release = {**release, "hidden_references": task.hidden_references}
    return {**task.config, "release": release}


def _release(document: Mapping[str, Any]) -> dict[str, Any]:
    release = document.get("release")
    return dict(release) if isinstance(release, Mapping) else {}


class _as_folder:
    """The bundle as a folder, for as long as it is read."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.folder = tempfile.TemporaryDirectory(prefix="genie-bundle-")

    def __enter__(self) -> Path:
        try:
            return self.bundle.write(Path(self.folder.name))
        except OSError as error:  # a name too long, or a file where a folder should be
            self.folder.cleanup()
            raise GenieError(
                f"The bundle cannot be used: its files cannot be written here "
                f"({error.strerror}).",
                code="bad-bundle",
            ) from error

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()
