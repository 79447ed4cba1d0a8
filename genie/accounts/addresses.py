from collections.abc import Iterable

from allauth.account.models import EmailAddress

from genie.lib.typing import Account


def addresses_of(users: Iterable[Account]) -> dict[int, str]:
    """Return each account's address for e-mails.

    That is the primary one, once confirmed, or the one that staff chose for an account
    they created. Closed accounts get no mail.
    """
    active = [user for user in users if user.is_active]
    known: dict[int, list[EmailAddress]] = {}
    for address in EmailAddress.objects.filter(user__in=active).order_by("pk"):
        known.setdefault(address.user_id, []).append(address)
    address_of = {}
    for user in active:
        if rows := known.get(user.pk):
            verified = sorted(
                (r for r in rows if r.verified), key=lambda r: not r.primary
            )
            address = verified[0].email if verified else ""
        else:
            address = user.email
        if address:
            address_of[user.pk] = address
    return address_of
