from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import translation

from crowd.hits.models import HITType, Item
from crowd.hits.selectors import language_for, worded
from crowd.hits.services.check_answers import ratings_of
from crowd.workers.hit_form import REMARK_CHARACTERS, sent_to, shown_item
from genie.lib.errors import GenieError


def preview(request: HttpRequest, hit_type: HITType, item: Item) -> HttpResponse:
    """Show the page, or what an answer would have stored.

    Neither the HIT type nor the item need be in the database. With ``?lang=de`` it is
    in that language, if all of its words are translated.
    """
    language = language_for(hit_type, request.GET.get("lang"), [item.data])
    with translation.override(language):
        return _answered(request, worded(hit_type, language), item)


def _answered(request: HttpRequest, hit_type: HITType, item: Item) -> HttpResponse:
    if request.method != "POST":
        return _page(request, hit_type, item, {})
    posted = request.POST.dict()
    sentence = _sentence(hit_type, item, posted)
    if request.headers.get("Accept", "").startswith("application/json"):
        return JsonResponse({"error": sentence, "final": False}, status=422)
    return _page(request, hit_type, item, posted, sentence)


def _sentence(hit_type: HITType, item: Item, posted: Mapping[str, Any]) -> str:
    raw_answers = sent_to(shown_item(hit_type, item, posted))
    try:
        ratings = ratings_of(hit_type, item, raw_answers)
    except GenieError as error:
        return error.message
    parts = [
        f"{rating.criterion}{'@' if rating.slot else ''}{rating.slot} = "
        f"{rating.value:g}" + (f" {rating.detail}" if rating.detail else "")
        for rating in ratings
    ]
    return (
        f"This is a preview; nothing was stored. It would have stored: "
        f"{'; '.join(parts)}."
    )


def _page(
    request: HttpRequest,
    hit_type: HITType,
    item: Item,
    posted: Mapping[str, Any],
    error: str = "",
) -> HttpResponse:
    context = {
        "assignment": SimpleNamespace(
            pk=0, reward_cents=hit_type.reward_cents or 0, deadline_at=None
        ),
        "hit_type": hit_type,
        "pool": "preview",
        "n_hits": 1,
        "reward_cents": hit_type.reward_cents or 0,
        "items": [shown_item(hit_type, item, posted)],
        "remark": posted.get("remark", ""),
        "remark_characters": REMARK_CHARACTERS,
        "error": error,
        "progress": SimpleNamespace(n_done=0, n_all=1),
        "earnings": SimpleNamespace(pending=0),
        "seconds_left": 1800,
    }
    return render(request, "worker_site/hit.html", context)
