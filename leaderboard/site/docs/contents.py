"""The pages, their audience and their order."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse

from leaderboard.site.docs.markdown import Rendered, Section, render, terms_in

FOLDER = Path(settings.BASE_DIR) / "genie/assets/docs"
# Pages that are not docs/SLUG.md.
_ELSEWHERE = {"example-extension": "example-extension/README.md"}


class Role(NamedTuple):
    slug: str
    title: str
    wants: str
    pages: tuple[str, ...]
    # addresses of pages without a file, with their titles
    also: tuple[tuple[str, str], ...] = ()


ROLES = (
    Role(
        "visitors",
        "Visitors",
        "You read a board and want to know what it says, and how sure it is.",
        ("reading-a-board", "for-auditors", "glossary"),
    ),
    Role(
        "submitters",
        "Submitters",
        "You have a system and want to know how people rate its outputs.",
        ("tutorial-submit", "for-submitters", "formats", "metrics"),
        (("leaderboard:docs-tasks", "Tasks that come with Genie"),),
    ),
    Role(
        "staff",
        "Organisers and staff",
        "You have outputs rated: your own, or those of everybody who submits.",
        (
            "tutorial-evaluate",
            "own-task",
            "for-staff",
            "designs",
            "wmt",
            "adding-a-task",
            "judges",
            "crowd-platforms",
            "crowd-panels",
        ),
    ),
    Role(
        "workers",
        "Workers",
        "You rate outputs, and are paid for it.",
        ("for-workers",),
    ),
    Role(
        "researchers",
        "Researchers",
        "You analyse judgments and metrics, or want to know how numbers are computed.",
        (
            "for-researchers",
            "importing",
            "reproducing",
            "statistics",
            "statistics-systems",
            "statistics-comparisons",
            "statistics-workers",
            "statistics-crowds",
            "statistics-metrics",
            "every-eval-ever-people",
        ),
    ),
    Role(
        "programs",
        "API and client",
        "Your programs read boards, submit and wait.",
        ("tutorial-api", "api", "client"),
        (("api-docs", "API reference"),),
    ),
    Role(
        "operators",
        "Operators",
        "You run a site of your own.",
        ("install", "operating", "backup"),
    ),
    Role(
        "developers",
        "Developers",
        "You change Genie, or add to it.",
        ("architecture", "where", "extending", "example-extension", "hit-templates", "translating"),
    ),
)  # fmt: skip


def slugs() -> list[str]:
    return [slug for role in ROLES for slug in role.pages]


def role_of(slug: str) -> Role:
    return next(role for role in ROLES if slug in role.pages)


def file_of(slug: str) -> Path:
    return FOLDER / _ELSEWHERE.get(slug, f"{slug}.md")


def slug_of(target: str) -> str | None:
    """Return the page behind a link to a Markdown file; None if there is none.

    Examples
    --------
    >>> slug_of("formats.md"), slug_of("../client/README.md"), slug_of("deploy/")
    ('formats', 'client', None)
    """
    path = Path(target)
    if path.suffix != ".md":
        return None
    slug = path.parent.name if path.stem == "README" else path.stem
    return slug if slug in slugs() else None


def neighbours(slug: str) -> tuple[str | None, str | None]:
    order = [None, *slugs(), None]
    at = order.index(slug)
    return order[at - 1], order[at + 1]


# Pages read from their files: cached per process until they change.
GLOSSARY = "glossary"


def page(slug: str) -> Rendered:
    return _page(slug, _changed(slug))


def terms() -> list[Section]:
    return terms_in(file_of(GLOSSARY).read_text("utf-8"))


def file(name: str) -> bytes | None:
    """Read an image or example file that pages link to; None if there is none."""
    if name not in _files():
        return None
    return (FOLDER / name).read_bytes()


def changed() -> tuple[int, ...]:
    return tuple(_changed(slug) for slug in slugs())


@lru_cache(maxsize=128)
def _page(slug: str, _changed: int) -> Rendered:
    return render(file_of(slug).read_text("utf-8"), link=_link)


def _changed(slug: str) -> int:
    return file_of(slug).stat().st_mtime_ns


def _link(target: str) -> str:
    """Return a link's address on the site; tests find those that stay relative."""
    # the client's own page is in another folder of the source
    path, hash_, anchor = target.removeprefix("../docs/").partition("#")
    slug = slug_of(path)
    if slug is not None:
        return reverse("leaderboard:docs-page", args=[slug]) + hash_ + anchor
    if path in _files():
        return reverse("leaderboard:docs-file", args=[path])
    return target


@lru_cache(maxsize=1)
def _files() -> frozenset[str]:
    return frozenset(
        path.relative_to(FOLDER).as_posix()
        for pattern in ("pictures/*", "deploy/*", "*.ipynb", "*.schema.json")
        for path in FOLDER.glob(pattern)
    )
