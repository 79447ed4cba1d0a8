"""Pages in a single language: the language of their work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

from crowd.campaigns.selectors.offers import Offer
from crowd.hits.models import Assignment
from crowd.hits.selectors import language_for, language_of, translate_hit_type
from crowd.workers.models.qualification_attempt import TestAttempt
from crowd.workers.models.worker import Worker

Page = Callable[..., HttpResponse]


@contextmanager
def spoken(language: str) -> Iterator[None]:
    known = language in dict(settings.LANGUAGES)
    with translation.override(language if known else settings.LANGUAGE_CODE):
        yield


def mark_language(response: HttpResponse, language: str) -> HttpResponse:
    """Mark the response as being in a language, whatever the site's language."""
    response.headers["Content-Language"] = language
    return response


def in_its_language(page: Page) -> Page:
    @wraps(page)
    def wrapper(
        request: HttpRequest,
        *args: Worker | Assignment | TestAttempt | str,
        **named: Any,
    ) -> HttpResponse:
        language = next(_language(x) for x in args if not isinstance(x, Worker | str))
        with spoken(language):
            return mark_language(page(request, *args, **named), language)

    return wrapper


def _language(of: Assignment | TestAttempt) -> str:
    if isinstance(of, Assignment):
        return language_of(of)
    return of.language or settings.LANGUAGE_CODE


def in_words(offer: Offer, language: str) -> Offer:
    if language_for(offer.hit_type, language) != language:
        return offer
    return replace(offer, hit_type=translate_hit_type(offer.hit_type, language))
