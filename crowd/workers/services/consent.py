from django.db import transaction

from crowd.workers.models.worker import Consent, ConsentVersion, Worker
from crowd.workers.selectors.consent import consent_text


@transaction.atomic
def give(worker: Worker, pool: str, language: str | None = None) -> Consent:
    """Record consent to the pool's present text; once per version.

    `language` is the one in which the worker read it.
    """
    text = consent_text(pool, language)
    ConsentVersion.objects.get_or_create(
        sha256=text.sha256, defaults={"html": text.html}
    )
    consent, _ = Consent.objects.get_or_create(
        worker=worker, pool=pool, text_sha256=text.sha256
    )
    return consent
