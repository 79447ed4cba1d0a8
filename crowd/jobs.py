"""Periodic jobs: thin, and safe to run twice."""

from crowd.campaigns.services import news, review, work
from crowd.elsewhere.services import notices, subscriptions, sync
from crowd.elsewhere.services.hit_offer import Pages
from crowd.messages import services as messages
from crowd.money.services import payouts
from crowd.money.services.payouts import forget_the_gone
from crowd.requester.services import deliver
from crowd.workers.hit_form import sent_to, shown_item
from crowd.workers.services import invitations

# Rendering of items and reading of answers is the same everywhere.
PAGES = Pages(shown_item, sent_to)


def release_overdue() -> None:
    work.release_overdue()


def approve_waiting() -> None:
    review.approve_waiting()


def sync_platforms() -> None:
    sync.follow_all_hints()
    sync.enqueue_due()


def sync_campaign(campaign: int) -> None:
    sync.sync_campaign(campaign, PAGES)


def confirm_subscription(address: str) -> None:
    subscriptions.confirm(address)


def forget_notices() -> None:
    notices.forget()
    deliver.forget_old()


def plan_payouts() -> None:
    payouts.plan_due()
    forget_the_gone()


def send_invitation(invitation: int, language: str = "") -> None:
    invitations.send(invitation, language)


def mail_message(message: int) -> None:
    messages.mail(message)


def look_for_news() -> None:
    news.enqueue_due()


def tell_of_work(worker: int) -> None:
    news.tell(worker)
