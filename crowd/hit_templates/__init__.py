"""HIT templates: one folder each, found by its template.toml, here or outside.

Those that came with a task's bundle are in the database. `known` has all of them.

Front door: models; checks; consent; errors; foreign; form; formats; markdown; words.
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
# Templates of a bundle that is looked at before anything of it is kept.
_at_hand: ContextVar[Mapping[str, HITTemplate]] = ContextVar("_at_hand")
# What is checked before there is a database cannot ask it.
_in_files: ContextVar[bool] = ContextVar("_in_files", default=False)


@cache
def all_templates() -> dict[str, HITTemplate]:
    """Give every HIT template that is installed, by its slug."""
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
    """The installed ones, those at hand, and those in the database when asked by name."""

    def __getitem__(self, slug: str) -> HITTemplate:
        found = all_templates().get(slug) or _at_hand.get({}).get(slug) or _kept(slug)
        if found is None:
            raise KeyError(slug)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter({**all_templates(), **_at_hand.get({})})

    def __len__(self) -> int:
        return len([*self])


def known() -> Mapping[str, HITTemplate]:
    """Give the templates by their slugs; only those that are installed are listed."""
    return _Known()


def get(slug: str) -> HITTemplate:
    """Give the HIT template of that slug, or say which ones there are."""
    template = known().get(slug)
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
    """Let templates be found that are not kept, for as long as one looks.

    With `in_files`, those in the database are not looked for.
    """
    token, asked = _at_hand.set(templates), _in_files.set(in_files)
    try:
        yield
    finally:
        _in_files.reset(asked)
        _at_hand.reset(token)


def keep(slug: str, texts: Mapping[str, str]) -> None:
    """Keep a template that has been looked at; the same one again changes nothing.

    Raises
    ------
    GenieError
        As `refuse_other`.
    """
    from crowd.hit_templates.models import BroughtTemplate

    refuse_other(slug, texts)
    BroughtTemplate.objects.get_or_create(slug=slug, defaults={"files": dict(texts)})


def refuse_other(slug: str, texts: Mapping[str, str]) -> None:
    """Refuse a template whose name another one has.

    Raises
    ------
    GenieError
        ``template-taken``: people may have judged by the other.
    """
    if slug in all_templates() or files_of(slug) not in (None, dict(texts)):
        raise GenieError(
            f"There is another HIT template {slug} already, and people may have judged "
            "by it: give the one in the bundle a name of its own.",
            code="template-taken",
        )


def files_of(slug: str) -> Mapping[str, str] | None:
    """Give the files of a template that came with a bundle; None: it did not."""
    # models need Django set up; templates are shown without it, too
    from crowd.hit_templates.models import BroughtTemplate

    row = BroughtTemplate.objects.filter(slug=slug).first()
    return None if row is None else row.files


def _kept(slug: str) -> HITTemplate | None:
    if _in_files.get() or not SLUG.fullmatch(slug):
        return None
    files = files_of(slug)
    return None if files is None else _read(slug, tuple(sorted(files.items())))


@lru_cache(maxsize=64)
def _read(slug: str, files: tuple[tuple[str, str], ...]) -> HITTemplate:
    return template_of(slug, dict(files))
