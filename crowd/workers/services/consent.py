from __future__ import annotations

from crowd.workers.models.worker import Consent, Worker
from crowd.workers.selectors.consent import consent_text


def give(worker: Worker, pool: str) -> Consent:
    """Note that the worker agrees to the pool's present text; once per version."""
    consent, _ = Consent.objects.get_or_create(
        worker=worker, pool=pool, text_sha256=consent_text(pool).sha256
    )
    return consent
