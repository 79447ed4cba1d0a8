from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Max
from django.utils.translation import get_language

from crowd.hit_templates.consent import Consent as Text
from crowd.hit_templates.consent import consents_for
from crowd.hits.models import Campaign
from crowd.workers.models.worker import Consent, Worker
from genie.lib.database import prepare


@dataclass(frozen=True)
class ConsentText:
    pool: str
    html: str
    sha256: str
    language: str


def consent_text(pool: str, language: str | None = None) -> ConsentText:
    """Return the text of a pool: its newest campaign's, its template's, or our own.

    In the given language, by default the page's, or in the task's if there is no
    translation.
    """
    texts = _texts([pool])[pool]
    wanted = language or get_language() or ""
    for one in (wanted, wanted.partition("-")[0], next(iter(texts))):
        if one in texts:
            break
    return ConsentText(pool, texts[one].html, texts[one].sha256, one)


def agreed_text(worker: Worker, pool: str) -> tuple[ConsentText, Consent] | None:
    texts = {text.sha256: text for text in _texts([pool])[pool].values()}
    given = Consent.objects.filter(worker=worker, pool=pool, text_sha256__in=texts)
    if (row := given.first()) is None:
        return None
    return consent_text(pool, texts[row.text_sha256].language), row


def consented(worker: Worker, pools: Collection[str]) -> set[str]:
    """Return the pools to whose present text the worker has consented, in any language."""
    if not pools:
        return set()
    agreed_texts = set(_read_agreed(worker.pk, *pools))
    return {
        pool
        for pool, texts in _texts(pools).items()
        if any((pool, text.sha256) in agreed_texts for text in texts.values())
    }


def _texts(pools: Collection[str]) -> Mapping[str, Mapping[str, Text]]:
    asked = {pool: (template, form) for pool, template, form in _read_newest(*pools)}
    return {pool: consents_for(*asked.get(pool, (None, {}))) for pool in pools}


_read_agreed = prepare(
    lambda worker, *pools: (
        Consent.objects.filter(worker=worker, pool__in=pools)
        .order_by()
        .values_list("pool", "text_sha256")
    )
)
_read_newest = prepare(
    lambda *pools: Campaign.objects.filter(
        pk__in=Campaign.objects.filter(pool__in=pools)
        .order_by()
        .values("pool")
        .annotate(newest=Max("pk"))
        .values("newest")
    ).values_list("pool", "hit_type__template", "hit_type__form")
)
