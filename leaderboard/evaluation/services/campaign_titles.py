"""Titles of campaigns for staff: the task and its systems.

Workers never read them; their pages and other platforms show the HIT type's title.
"""

from collections.abc import Sequence

LONGEST = 200
_NAMED = 2


def campaign_title(task: str, systems: Sequence[str], *, detail: str = "") -> str:
    """Return the title of a campaign that shows outputs of these systems.

    Examples
    --------
    >>> campaign_title("Tidy news", ["Kite"])
    'Tidy news: Kite'
    >>> campaign_title("Tidy news", ["Kite", "Wren", "Heron", "Egret"], detail="fluency")
    'Tidy news: Kite, Wren and 2 more (fluency)'
    """
    n_more = len(systems) - _NAMED
    if n_more > 0:
        names = f"{', '.join(systems[:_NAMED])} and {n_more} more"
    else:
        names = " and ".join(systems)
    return _joined(task, names, detail)


def comparison_title(task: str, a: str, b: str, criterion: str) -> str:
    """Return the title of a comparison's campaign.

    Examples
    --------
    >>> comparison_title("Tidy news", "Kite", "Wren", "overall")
    'Tidy news: Kite vs. Wren (overall)'
    """
    return _joined(task, f"{a} vs. {b}", criterion)


def _joined(task: str, names: str, detail: str) -> str:
    end = f" ({detail})" if detail else ""
    return f"{task}: {names}"[: LONGEST - len(end)] + end
