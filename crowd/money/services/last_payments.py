"""Money of people who have left: it is paid, and then their details are deleted."""

from crowd.money.models import PaymentDetails, Payout
from crowd.money.selectors.earnings import earnings_of
from crowd.money.selectors.payouts import UNDER_WAY
from crowd.money.services import payment_details
from crowd.workers.models.worker import Worker


def of_the_gone(workers: set[int]) -> set[int]:
    gone = Worker.objects.filter(pk__in=workers, user__is_active=False)
    return set(gone.values_list("pk", flat=True))


def forget_the_gone() -> int:
    """Delete the payment details of closed accounts that are owed nothing.

    Details to which a payment failed are deleted, too, because their owner cannot
    correct them. Return how many.
    """
    details = PaymentDetails.objects.filter(worker__user__is_active=False)
    gone = {row.worker_id: row for row in details.select_related("worker")}
    owed = earnings_of([row.worker for row in gone.values()])
    under_way = Payout.objects.filter(worker__in=list(gone), state__in=UNDER_WAY)
    waiting = set(under_way.values_list("worker", flat=True))
    over = [
        row.worker
        for pk, row in gone.items()
        if pk not in waiting
        and (row.wrong or not (owed[pk].pending or owed[pk].approved))
    ]
    for worker in over:
        payment_details.forget(worker)
    return len(over)
