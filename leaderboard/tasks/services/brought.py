"""Files of a bundle besides task.toml and its texts: HIT templates and others."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import PurePosixPath

from crowd import hit_templates
from crowd.hit_templates import HITTemplate, foreign
from genie.lib.errors import GenieError
from leaderboard.tasks.drafts.bundle import DATA
from leaderboard.tasks.models import Task, TaskFile

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


def keep(task: Task, files: Mapping[str, bytes]) -> None:
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


def kept(task: Task, *, with_references: bool) -> dict[str, bytes]:
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
