"""Whether a campaign is answered faster than its texts can be read."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign
from crowd.money.selectors.fair_pay import ENOUGH_TIMES

#: Silent reading of English non-fiction, words a minute: M. Brysbaert, "How many words
#: do we read per minute?", Journal of Memory and Language 109 (2019).
WORDS_A_MINUTE = 238
#: Three times as fast nobody reads; some of the input may be known already.
LENIENCE = 3
#: The first items are enough to know how long a campaign's texts are.
N_ITEMS = 100

_TEXTS = ("prediction", "reference", "standard")


def n_words(data: Mapping[str, Any]) -> int:
    """Count the words that an item shows; texts without spaces count as few.

    Examples
    --------
    >>> n_words({"fields": [{"label": "Question", "text": "Why is ice cold?"}],
    ...          "prediction": "It is frozen."})
    7
    """
    parts = [*data.get("fields", ()), *data.get("outputs", ())]
    texts = [str(part.get("text", "")) for part in parts]
    texts += [str(data[name]) for name in _TEXTS if data.get(name)]
    return sum(len(text.split()) for text in texts)


def least_seconds(campaign: Campaign) -> float:
    """Give the time below which nobody can have read the campaign's median item."""
    rows = campaign.items.order_by("pk").values_list("data", flat=True)[:N_ITEMS]
    words = [n_words(data) for data in rows]
    return 60 * median(words) / WORDS_A_MINUTE / LENIENCE if words else 0.0


def is_faster_than_reading(campaign: Campaign) -> bool:
    """Tell whether people's median pace is below that, as far as enough times tell."""
    if campaign.simulated:
        return False
    seconds = list(
        Assignment.objects.filter(
            hit__campaign=campaign, active_seconds__isnull=False
        ).values_list("active_seconds", flat=True)
    )
    measured = [float(value) for value in seconds if value is not None]
    return len(measured) >= ENOUGH_TIMES and median(measured) < least_seconds(campaign)
