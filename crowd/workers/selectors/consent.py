"""The text that workers agree to before they see any work of a pool."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Max

from crowd.hit_templates.consent import consent_for
from crowd.hits.models.campaign import Campaign
from crowd.workers.models.worker import Consent, Worker


@dataclass(frozen=True)
class ConsentText:
    """One version of the text."""

    pool: str
    html: str
    sha256: str


def consent_text(pool: str) -> ConsentText:
    """Give the text of a pool: its newest campaign's, its template's, or our own."""
    return _texts([pool])[pool]


def consented(worker: Worker, pools: Collection[str]) -> set[str]:
    """Tell to which pools' present text the worker has consented."""
    if not pools:
        return set()
    agreed_texts = set(
        Consent.objects.filter(worker=worker, pool__in=pools).values_list(
            "pool", "text_sha256"
        )
    )
    return {
        pool
        for pool, text in _texts(pools).items()
        if (pool, text.sha256) in agreed_texts
    }


def _texts(pools: Collection[str]) -> Mapping[str, ConsentText]:
    newest = (
        Campaign.objects.filter(pool__in=pools)
        .order_by()
        .values("pool")
        .annotate(newest=Max("pk"))
        .values("newest")
    )
    rows = Campaign.objects.filter(pk__in=newest).values_list(
        "pool", "hit_type__template", "hit_type__form"
    )
    asked = {pool: (template, form) for pool, template, form in rows}
    texts = {}
    for pool in pools:
        consent = consent_for(*asked.get(pool, (None, {})))
        texts[pool] = ConsentText(pool, consent.html, consent.sha256)
    return texts
