"""E-mails about new work, only to workers who asked, at most one a day."""

from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMultiAlternatives
from django.db.models import Max, Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext, ngettext

from crowd.campaigns.selectors.offers import Offer, offers
from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import title_now
from crowd.messages.services import address_of
from crowd.platforms.selfhosted import SelfHosted
from crowd.workers.models.worker import Profile, Worker
from genie.accounts.mail import message
from genie.lib import jobs
from genie.lib.logs import one_line

# Between two e-mails to one person.
PAUSE = timedelta(hours=24)
_SALT = "no news of work"
JOB = "crowd.jobs.tell_of_work"


def enqueue_due(now: datetime | None = None) -> int:
    now = now or timezone.now()
    newest = (
        _running_campaigns()
        .filter(starts_at__lte=now)
        .aggregate(at=Max("starts_at"))["at"]
    )
    if newest is None:
        return 0
    rows = Profile.objects.filter(
        Q(mailed_at=None) | Q(mailed_at__lte=now - PAUSE),
        wants_news=True,
        news_until__lt=newest,
        worker__excluded=False,
        worker__user__is_active=True,
    )
    pks = rows.values_list("worker", flat=True)
    return jobs.enqueue_missing((JOB, {"worker": pk}) for pk in pks)


def tell(worker_pk: int) -> bool:
    """Send one worker an e-mail if they can do new work; return whether it was sent."""
    now = timezone.now()
    worker = (
        Worker.objects.filter(pk=worker_pk, profile__wants_news=True)
        .select_related("profile", "user")
        .first()
    )
    if worker is None:
        return False
    since, last = worker.profile.news_until or now, worker.profile.mailed_at
    if last is not None and last > now - PAUSE:
        return False
    address = address_of(worker)
    began = _running_campaigns().filter(starts_at__gt=since, starts_at__lte=now)
    # As far as campaigns were seen, because some may be started late.
    until = began.aggregate(at=Max("starts_at"))["at"]
    if not address or until is None:
        return False
    offered = _new_to(worker, began, since, now)
    mine = Profile.objects.filter(pk=worker.profile.pk)
    # Marked before it is sent, so two processes do not both write to a worker.
    untold = mine.filter(news_until=worker.profile.news_until, mailed_at=last)
    told = {"mailed_at": now} if offered else {}
    if not untold.update(news_until=until, **told) or not offered:
        return False
    try:
        with translation.override(worker.profile.language or settings.LANGUAGE_CODE):
            _mail(worker, address, offered).send()
    except OSError:
        mine.update(news_until=since, mailed_at=last)
        raise
    return True


def reader(token: str) -> int:
    """Return the worker of an e-mail's link; raises `BadSignature`."""
    return int(signing.loads(token, salt=_SALT))


def _new_to(
    worker: Worker, began: QuerySet[Campaign], since: datetime, now: datetime
) -> list[Offer]:
    begun = Assignment.objects.filter(worker=worker, accepted_at__gt=since)
    pools = set(began.values_list("pool", flat=True)) - set(
        begun.values_list("hit__campaign__pool", flat=True)
    )
    found = offers(worker, now, pools=pools) if pools else []
    return [offer for offer in found if offer.n_left and not offer.lacking]


def _running_campaigns() -> QuerySet[Campaign]:
    return Campaign.objects.filter(
        state=Campaign.State.RUNNING, platform=SelfHosted.slug
    ).order_by()


def _mail(worker: Worker, address: str, offered: list[Offer]) -> EmailMultiAlternatives:
    off = _absolute("work:no-news", signing.dumps(worker.pk, salt=_SALT))
    context = {
        "offers": offered,
        "home": _absolute("work:home"),
        "settings": _absolute("work:settings"),
        "off": off,
    }
    n = len(offered)
    subject = ngettext(
        "[Genie] New work for you: %(title)s",
        "[Genie] New work for you: %(title)s and more",
        n,
    ) % {"title": title_now(offered[0].hit_type)}
    return message(
        one_line(subject, 150),
        render_to_string("worker_site/news.txt", context),
        address,
        action=gettext("Your work"),
        headers={
            "List-Unsubscribe": f"<{off}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        },
    )


def _absolute(name: str, *args: object) -> str:
    return str(settings.GENIE["SITE_URL"]).rstrip("/") + reverse(name, args=args)
