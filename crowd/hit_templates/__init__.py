"""HIT templates: one folder each with a template.toml, here or outside.

Templates that came with a task's bundle are in the database. `known` has all of them.

Front door: models; checks; consent; foreign; form; formats; words.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path

from crowd.hit_templates.template import SLUG, HITTemplate, read_template, template_of
from genie.lib import outside
from genie.lib.errors import GenieError

__all__ = [
    "HITTemplate",
    "all_templates",
    "at_hand",
    "files_of",
    "get",
    "keep",
    "known",
    "refuse_other",
]

ROOT = Path(__file__).resolve().parent
# Templates of a bundle that is read before any of it is stored.
_at_hand: ContextVar[Mapping[str, HITTemplate]] = ContextVar("_at_hand")
# Checks that run before there is a database cannot query it.
_in_files: ContextVar[bool] = ContextVar("_in_files", default=False)


@cache
def all_templates() -> dict[str, HITTemplate]:
    templates = {
        path.parent.name: read_template(path.parent)
        for path in sorted(ROOT.glob("*/template.toml"))
    }
    for where, folder in outside.folders("templates"):
        for path in sorted(folder.glob("*/template.toml")):
            slug, place = path.parent.name, f"{path.parent.name} of {where}"
            if slug in templates:
                outside.refuse("templates", place, f"there is another {slug} already")
                continue
            try:
                templates[slug] = read_template(path.parent)
            except GenieError as error:
                outside.refuse("templates", place, error.message.rstrip("."))
    return dict(sorted(templates.items()))


class _Known(Mapping[str, HITTemplate]):
    def __getitem__(self, slug: str) -> HITTemplate:
        found = (
            all_templates().get(slug)
            or _at_hand.get({}).get(slug)
            or _stored_template(slug)
        )
        if found is None:
            raise KeyError(slug)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter({**all_templates(), **_at_hand.get({})})

    def __len__(self) -> int:
        return len([*self])


def stored_templates() -> Mapping[str, HITTemplate]:
    return _Known()


def get(slug: str) -> HITTemplate:
    template = stored_templates().get(slug)
    if template is None:
        raise GenieError(
            f"There is no HIT template {slug!r}. Choose from: "
            f"{', '.join(all_templates())}.",
            code="unknown-hit-template",
        )
    return template


@contextmanager
def at_hand(
    templates: Mapping[str, HITTemplate], *, in_files: bool = False
) -> Iterator[None]:
    """Make templates available without storing them, within the context.

    With `in_files`, the database is not searched.
    """
    token, asked = _at_hand.set(templates), _in_files.set(in_files)
    try:
        yield
    finally:
        _in_files.reset(asked)
        _at_hand.reset(token)


def keep(slug: str, texts: Mapping[str, str]) -> None:
    """Store a checked template, or refuse it as `refuse_other`; idempotent."""
    from crowd.hit_templates.models import BroughtTemplate

    refuse_other(slug, texts)
    BroughtTemplate.objects.get_or_create(slug=slug, defaults={"files": dict(texts)})


def refuse_other(slug: str, texts: Mapping[str, str]) -> None:
    """Refuse a template if a different one has its name.

    Raises
    ------
    GenieError
        ``template-taken``: workers may have used the stored one.
    """
    if slug in all_templates() or files_of(slug) not in (None, dict(texts)):
        raise GenieError(
            f"A different HIT template named {slug} exists and may be in use. Rename the "
            "one in the bundle.",
            code="template-taken",
        )


def files_of(slug: str) -> Mapping[str, str] | None:
    # Models need Django set up, but templates are rendered without it, too.
    from crowd.hit_templates.models import BroughtTemplate

    row = BroughtTemplate.objects.filter(slug=slug).first()
    return None if row is None else row.files


def _stored_template(slug: str) -> HITTemplate | None:
    if _in_files.get() or not SLUG.fullmatch(slug):
        return None
    files = files_of(slug)
    return None if files is None else _read(slug, tuple(sorted(files.items())))


@lru_cache(maxsize=64)
def _read(slug: str, files: tuple[tuple[str, str], ...]) -> HITTemplate:
    return template_of(slug, dict(files))
