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
    own_words, other_words = _WORDS.findall(text), _WORDS.findall(other)
    if max(len(own_words), len(other_words)) > MOST_WORDS:
        return None
    # autojunk would leave out words that are frequent in long texts, such as "the"
    matcher = SequenceMatcher(None, own_words, other_words, autojunk=False)
    parts = []
    for kind, start, end, _, _ in matcher.get_opcodes():
        run = "".join(own_words[start:end])
        if run:
            same = kind == "equal" or not run.strip()
            parts.append(
                format_html("{}", run) if same else format_html("<ins>{}</ins>", run)
            )
    return format_html_join("", "{}", ((part,) for part in parts))
