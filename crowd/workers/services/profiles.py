from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import get_language, gettext

from crowd.hits.models import Campaign
from crowd.messages.models import Message
from crowd.requester.models import WorkerRecord
from crowd.workers.choices import COUNTRIES, languages, time_zones
from crowd.workers.models.worker import Profile, Worker
from crowd.workers.selectors.profiles import may_say_country
from genie.lib.errors import GenieError


@dataclass(frozen=True)
class Chosen:
    """A worker's settings of one page; None leaves a setting unchanged."""

    time_zone: str
    goes_on: bool
    wants_news: bool
    country: str | None = None
    languages: Iterable[str] | None = None


def choose_language(user_pk: int, language: str) -> None:
    for worker in Worker.objects.filter(user_id=user_pk):
        Profile.objects.update_or_create(worker=worker, defaults={"language": language})


def guess_zone(worker: Worker, name: str) -> bool:
    """Store the browser's zone and language if the worker has chosen no zone.

    False if the zone is not stored.
    """
    if name not in time_zones():
        return False
    profile, _ = Profile.objects.get_or_create(worker=worker)
    Profile.objects.filter(pk=profile.pk, language="").update(language=get_language())
    return bool(
        Profile.objects.filter(pk=profile.pk, time_zone="").update(time_zone=name)
    )


@transaction.atomic
def choose(worker: Worker, chosen: Chosen) -> Profile:
    """Store a worker's choices.

    Raises
    ------
    GenieError
        ``said-already`` for a different country too soon after the last one.
    """
    Profile.objects.get_or_create(worker=worker)
    profile = Profile.objects.select_for_update().get(worker=worker)
    if chosen.wants_news and not profile.wants_news:
        # Existing work is no news.
        running = Campaign.objects.filter(state=Campaign.State.RUNNING).order_by()
        newest = running.aggregate(at=Max("starts_at"))["at"]
        profile.news_until = newest or timezone.now()
    profile.time_zone = chosen.time_zone
    profile.goes_on = chosen.goes_on
    profile.wants_news = chosen.wants_news
    if chosen.languages is not None:
        known = languages()
        profile.languages = " ".join(code for code in chosen.languages if code in known)
    if chosen.country is not None and chosen.country != profile.country:
        if not may_say_country(profile):
            raise GenieError(
                gettext("The country was changed less than 30 days ago."),
                code="said-already",
            )
        profile.country = chosen.country if chosen.country in COUNTRIES else ""
        profile.country_said_at = timezone.now()
    profile.save()
    return profile


def no_more_news(worker_pk: int) -> None:
    Profile.objects.filter(worker=worker_pk).update(wants_news=False)


def forget(worker: Worker) -> None:
    for model in (Profile, WorkerRecord, Message):
        model.objects.filter(worker=worker).delete()
