from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from crowd.hits.models import Assignment, Campaign, Item
from crowd.money.selectors.fair_pay import ENOUGH_TIMES

#: Silent reading of English non-fiction, words a minute: M. Brysbaert, "How many words
#: do we read per minute?", Journal of Memory and Language 109 (2019).
WORDS_A_MINUTE = 238
#: People do not read three times as fast, but may know part of the input.
LENIENCE = 3
#: The first items are enough to estimate the length of a campaign's texts.
N_ITEMS = 100

_TEXTS = ("prediction", "reference", "standard")


def n_words(data: Mapping[str, Any]) -> int:
    """Count the words an item shows; texts without spaces count as few."""
    parts = [*data.get("fields", ()), *data.get("outputs", ())]
    texts = [str(part.get("text", "")) for part in parts]
    texts += [str(data[name]) for name in _TEXTS if data.get(name)]
    return sum(len(text.split()) for text in texts)


def least_seconds(campaigns: Iterable[Campaign]) -> dict[int, float]:
    """Return by campaign the minimal seconds in which its median item can be read."""
    place = Window(RowNumber(), partition_by=F("campaign"), order_by=F("pk").asc())
    rows = Item.objects.filter(campaign__in=campaigns).annotate(place=place)
    words = defaultdict(list)
    for campaign, data in (
        rows.filter(place__lte=N_ITEMS)
        .values_list("campaign", "data")
        .iterator(chunk_size=N_ITEMS)
    ):
        words[campaign].append(n_words(data))
    return {
        campaign: 60 * median(counts) / WORDS_A_MINUTE / LENIENCE
        for campaign, counts in words.items()
    }


def measured_times(campaigns: Iterable[Campaign]) -> list[tuple[int, float, str]]:
    """Return the campaign, active seconds and state of each measured assignment."""
    rows = Assignment.objects.filter(
        hit__campaign__in=campaigns, active_seconds__isnull=False
    )
    times = rows.values_list("hit__campaign", "active_seconds", "state")
    return [(campaign, seconds or 0, state) for campaign, seconds, state in times]


def faster_than_reading(
    campaigns: Iterable[Campaign], times: Iterable[tuple[int, float, str]]
) -> set[int]:
    """Select campaigns whose median pace is below that; one query for all.

    Campaigns with few measured times and campaigns of programs are left out.
    """
    by_people = [campaign for campaign in campaigns if not campaign.simulated]
    measured = defaultdict(list)
    for campaign, seconds, _ in times:
        measured[campaign].append(float(seconds))
    enough = {pk for pk, times in measured.items() if len(times) >= ENOUGH_TIMES}
    least = least_seconds([one for one in by_people if one.pk in enough])
    return {pk for pk, floor in least.items() if median(measured[pk]) < floor}
