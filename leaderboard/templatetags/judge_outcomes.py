from typing import Any

from django import template

from leaderboard.judges.selectors.validation import NOT_APPLICABLE, NOT_CHECKED

register = template.Library()


@register.filter
def outcome(reason: dict[str, Any]) -> str:
    """Return `, passed` or `, failed`; empty if the words open with another outcome."""
    undecided = reason["words"].startswith((NOT_CHECKED, NOT_APPLICABLE))
    return "" if undecided else ", passed" if reason["holds"] else ", failed"
