"""The pages, their audience and their order."""

from pathlib import Path
from typing import NamedTuple

from django.conf import settings

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
