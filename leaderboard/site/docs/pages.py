"""Pages read from their files: cached per process until they change."""

from functools import lru_cache

from django.urls import reverse

from leaderboard.site.docs import contents
from leaderboard.site.docs.markdown import Rendered, Section, render, terms_in

GLOSSARY = "glossary"


def page(slug: str) -> Rendered:
    return _page(slug, _changed(slug))


def terms() -> list[Section]:
    return terms_in(contents.file_of(GLOSSARY).read_text("utf-8"))


def file(name: str) -> bytes | None:
    """Read an image or example file that pages link to; None if there is none."""
    if name not in _files():
        return None
    return (contents.FOLDER / name).read_bytes()


def changed() -> tuple[int, ...]:
    return tuple(_changed(slug) for slug in contents.slugs())


@lru_cache(maxsize=128)
def _page(slug: str, _changed: int) -> Rendered:
    return render(contents.file_of(slug).read_text("utf-8"), link=_link)


def _changed(slug: str) -> int:
    return contents.file_of(slug).stat().st_mtime_ns


def _link(target: str) -> str:
    """Return a link's address on the site; tests find those that stay relative."""
    # the client's own page is in another folder of the source
    path, hash_, anchor = target.removeprefix("../docs/").partition("#")
    slug = contents.slug_of(path)
    if slug is not None:
        return reverse("leaderboard:docs-page", args=[slug]) + hash_ + anchor
    if path in _files():
        return reverse("leaderboard:docs-file", args=[path])
    return target


@lru_cache(maxsize=1)
def _files() -> frozenset[str]:
    return frozenset(
        path.relative_to(contents.FOLDER).as_posix()
        for pattern in ("pictures/*", "deploy/*", "*.ipynb", "*.schema.json")
        for path in contents.FOLDER.glob(pattern)
    )
