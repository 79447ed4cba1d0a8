"""Two texts, word by word: what one has and the other has not."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

# Longer texts are shown as they are: the comparison takes the square of their length.
MOST_WORDS = 1_200
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def difference(text: str, other: str) -> SafeString | None:
    """Mark in `text` what `other` has not; None when that would take too long."""
    ours, theirs = _WORDS.findall(text), _WORDS.findall(other)
    if max(len(ours), len(theirs)) > MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    parts = []
    for kind, start, end, _, _ in matcher.get_opcodes():
        words = "".join(ours[start:end])
        if words:
            same = kind == "equal" or not words.strip()
            parts.append(
                format_html("{}", words)
                if same
                else format_html("<ins>{}</ins>", words)
            )
    return format_html_join("", "{}", ((part,) for part in parts))
