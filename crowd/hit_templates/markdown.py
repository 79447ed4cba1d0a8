from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


def to_html(markdown: str) -> SafeString:
    """Render Markdown as HTML without raw HTML from the text."""
    html: str = _markdown().render(markdown)
    return mark_safe(html)  # noqa: S308 - html is disabled below


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Raw HTML in a Markdown file is shown, not executed.
    return MarkdownIt("commonmark", {"html": False}).enable("table")
