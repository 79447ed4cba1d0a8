"""The places in a HIT: taken by one compare-and-set, given back by another.

Of a HIT, `n_available` is how many places can be taken now, `max_assignments` how
many there are in all. Both change by an UPDATE with a condition, and never by
reading and then writing, so nobody needs a lock for them.
"""

from django.db.models import F, QuerySet, Sum

from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import HIT

State = Assignment.State


def take(hit_pk: int) -> bool:
    """Take one place if there is one left."""
    return bool(
        HIT.objects.filter(pk=hit_pk, n_available__gt=0).update(
            n_available=F("n_available") - 1
        )
    )


def free(hit_pk: int) -> None:
    """Give one place back to the pool."""
    HIT.objects.filter(pk=hit_pk).update(n_available=F("n_available") + 1)


def add(hit_pk: int) -> None:
    """Open one more place than there was."""
    HIT.objects.filter(pk=hit_pk).update(
        n_available=F("n_available") + 1, max_assignments=F("max_assignments") + 1
    )


def add_to_each(hits: QuerySet[HIT], n: int) -> None:
    """Open n more places of each HIT than there were."""
    hits.update(
        n_available=F("n_available") + n, max_assignments=F("max_assignments") + n
    )


def withdraw(hit_pk: int) -> bool:
    """Close one open place for good, if there is one."""
    # A HIT keeps the place that it was made with; only what `add` opened is closed.
    return bool(
        HIT.objects.filter(pk=hit_pk, n_available__gt=0, max_assignments__gt=1).update(
            n_available=F("n_available") - 1,
            max_assignments=F("max_assignments") - 1,
        )
    )


def close_free(hits: QuerySet[HIT]) -> int:
    """Close for good what nobody has taken of these HITs; return how many places."""
    open_now = hits.filter(n_available__gt=0)
    n = open_now.aggregate(n=Sum("n_available"))["n"] or 0
    open_now.update(
        max_assignments=F("max_assignments") - F("n_available"), n_available=0
    )
    return int(n)


def take_back(assignment_pk: int, hit_pk: int, state: Assignment.State) -> bool:
    """End an open assignment without an answer; its place is free again, once.

    All that stands on its page with it ends, too. Callers open the transaction.
    """
    ended = Assignment.objects.filter(pk=assignment_pk, state=State.ACCEPTED).update(
        state=state
    )
    if ended:
        free(hit_pk)
        # Who adds to a page or sends it in holds the row that has just been changed.
        with_it = Assignment.objects.filter(page=assignment_pk, state=State.ACCEPTED)
        for pk, hit in with_it.values_list("pk", "hit_id"):
            take_back(pk, hit, state)
    return bool(ended)
