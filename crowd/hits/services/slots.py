"""The places in a HIT: taken by one compare-and-set, freed by another.

Of a HIT's places, `n_available` can be taken now and `max_assignments` exist. Both
change by a conditional UPDATE, never by reading and then writing, so they need no lock.
"""

from django.db.models import F, QuerySet, Sum

from crowd.hits.models import HIT, Assignment

State = Assignment.State


def take(hit_pk: int) -> bool:
    return bool(
        HIT.objects.filter(pk=hit_pk, n_available__gt=0).update(
            n_available=F("n_available") - 1
        )
    )


def free(hit_pk: int) -> None:
    HIT.objects.filter(pk=hit_pk).update(n_available=F("n_available") + 1)


def add(hit_pk: int) -> None:
    HIT.objects.filter(pk=hit_pk).update(
        n_available=F("n_available") + 1, max_assignments=F("max_assignments") + 1
    )


def add_to_each(hits: QuerySet[HIT], n: int) -> None:
    hits.update(
        n_available=F("n_available") + n, max_assignments=F("max_assignments") + n
    )


def withdraw(hit_pk: int) -> bool:
    """Close one open place for good, if there is one."""
    # A HIT keeps its original place; only places opened by `add` are closed.
    return bool(
        HIT.objects.filter(pk=hit_pk, n_available__gt=0, max_assignments__gt=1).update(
            n_available=F("n_available") - 1,
            max_assignments=F("max_assignments") - 1,
        )
    )


def close_free(hits: QuerySet[HIT]) -> int:
    open_now = hits.filter(n_available__gt=0)
    n = open_now.aggregate(n=Sum("n_available"))["n"] or 0
    open_now.update(
        max_assignments=F("max_assignments") - F("n_available"), n_available=0
    )
    return int(n)


def take_back(assignment_pk: int, hit_pk: int, state: Assignment.State) -> bool:
    """End an open assignment without an answer; its place is free again, once.

    The other assignments of its page end, too. Callers open the transaction.
    """
    ended = Assignment.objects.filter(pk=assignment_pk, state=State.ACCEPTED).update(
        state=state
    )
    if ended:
        free(hit_pk)
        # Code that adds to a page or submits it locks the row that was just changed.
        with_it = Assignment.objects.filter(page=assignment_pk)
        for pk, hit in with_it.values_list("pk", "hit_id"):
            take_back(pk, hit, state)
    return bool(ended)
