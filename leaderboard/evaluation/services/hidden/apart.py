"""Nearly equal texts: no worker sees two, so that none finds a text beside its edit."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from django.db.models import Max, Sum

from crowd.hits.models import HIT, Campaign, Input, Item
from crowd.hits.services.build import keep_apart
from leaderboard.evaluation.services.items import Part
from quality.test_questions.models import TestQuestion

# Shorter texts are often equal by themselves. An edit of one word is larger than this,
# or it is in a text that differs from the others anyway.
SHORTEST, DIFFER = 30, 5
AT_ONCE = 2_000


def texts_of(data: Mapping[str, Any]) -> list[str]:
    """Return the texts that an item asks about."""
    if "prediction" in data:
        return [str(data["prediction"])]
    return [str(output["text"]) for output in data.get("outputs", ())]


def alike(ones: Sequence[str], others: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield places of texts of `SHORTEST` characters that differ by less than `DIFFER`."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    long = [
        [at for at, t in enumerate(s) if len(t) >= SHORTEST] for s in (ones, others)
    ]
    found = cdist(
        [ones[at] for at in long[0]],
        [others[at] for at in long[1]],
        scorer=Levenshtein.distance,
        score_cutoff=DIFFER - 1,
        dtype=np.uint32,
    )
    for one, other in np.argwhere(found < DIFFER):
        yield long[0][int(one)], long[1][int(other)]


def keep_alike_apart(campaign: Campaign) -> None:
    """Close nearly equal texts to who sees one, in all that an input is exposed in."""
    if not TestQuestion.objects.filter(campaign=campaign).exists():
        return
    rows = Item.objects.select_related("hit__input").only("data", "hit__input")
    own = _with_inputs(rows.filter(campaign=campaign))
    in_pool = campaign.input_scope == campaign.pool_id
    scope = {"campaign__pool": campaign.pool_id} if in_pool else {"campaign": campaign}
    every = rows.filter(**scope).iterator(AT_ONCE)
    for some in iter(lambda: list(islice(every, AT_ONCE)), []):
        others = _with_inputs(some)
        near = alike([text for text, _ in own], [text for text, _ in others])
        pairs = ((own[one][1], others[other][1]) for one, other in near)
        keep_apart(pair for pair in pairs if pair[0] != pair[1])


def _with_inputs(items: Any) -> list[tuple[str, Input]]:
    return [(text, item.hit.input) for item in items for text in texts_of(item.data)]


def workers_needed(part: Part, places: int, *, pool: str = "") -> int:
    """Return how many workers one campaign needs if none sees nearly equal texts.

    `places` is the most answers to an item; with a `pool`, its earlier answers to an
    input come from other workers, too.
    """
    specs = [
        one.spec for some in (part.judged, part.hidden, part.anchors) for one in some
    ]
    shown = [(text, spec.content_key) for spec in specs for text in texts_of(spec.data)]
    texts = [text for text, _ in shown]
    near: dict[str, set[str]] = {spec.content_key: {spec.content_key} for spec in specs}
    for one, other in alike(texts, texts):
        near[shown[one][1]].add(shown[other][1])
    asked = HIT.objects.filter(input__scope=pool).values("input").order_by()
    before = (
        asked.annotate(n=Sum("max_assignments")).aggregate(most=Max("n"))["most"] or 0
    )
    return before + places * max(map(len, near.values()), default=1)
