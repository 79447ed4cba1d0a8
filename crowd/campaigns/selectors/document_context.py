from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowd.hit_templates.form import DOCUMENT, PART
from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Item
from crowd.hits.selectors.questions import form_of

# Parts shown before the page's first.
MOST = 10


@dataclass(frozen=True)
class Earlier:
    fields: Sequence[Mapping[str, Any]]
    # the outputs that were rated, empty if this worker has not seen them
    outputs: Sequence[str]
    language: str


def before(page: Sequence[Assignment]) -> list[Earlier]:
    """Return the parts before a page's first one, in order.

    Inputs are shown for all parts, outputs only for those the worker has rated. A
    campaign can have a test question next to a part, and the output would reveal it.
    """
    first = page[0]
    if not form_of(first.hit.campaign.hit_type).by_document:
        return []
    shown = [item.data for one in page for item in one.hit.items.all()]
    document = shown[0].get(DOCUMENT)
    if not document:
        return []
    least = min(data.get(PART, 0) for data in shown)
    rows = Item.objects.filter(
        campaign=first.hit.campaign_id,
        **{f"data__{DOCUMENT}": document, f"data__{PART}__lt": least},
    )
    judged = set(
        rows.filter(answers__assignment__worker=first.worker_id).values_list(
            "pk", flat=True
        )
    )
    by_part: dict[int, Earlier] = {}
    for pk, data in sorted(
        rows.values_list("pk", "data"), key=lambda row: row[0] in judged
    ):
        by_part[data.get(PART, 0)] = _earlier(data, seen=pk in judged)
    return [by_part[part] for part in sorted(by_part)][-MOST:]


def _earlier(data: Mapping[str, Any], *, seen: bool) -> Earlier:
    outputs = [output["text"] for output in data.get("outputs") or []]
    outputs = outputs or [str(data.get("prediction", ""))]
    language = str(data.get("lang", ""))
    return Earlier(data.get("fields") or [], outputs if seen else [], language)
