from django.db import transaction
from django.db.models import Count, F, Q

from crowd.campaigns.services import reissue
from crowd.hits.models import ELSEWHERE, HIT, Assignment, Campaign
from crowd.hits.selectors import unit_cents
from crowd.hits.services import slots
from crowd.money.services import budgets
from crowd.workers.models.worker import Worker

COUNTED = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)


@transaction.atomic
def reopen(campaign_pk: int) -> int:
    """Send the HITs of excluded workers out again; return how many places that opens.

    Places of work that was rejected after the end are opened, too, because the campaign
    could not ask again then. Only approved money that was not spent is used.

    Raises
    ------
    GenieError
        ``over-budget`` if the pool's or the site's budget has no room.
    """
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("hit_type")
        .get(pk=campaign_pk)
    )
    if campaign.state != Campaign.State.COMPLETE or campaign.platform == ELSEWHERE:
        return 0
    lost = Assignment.objects.filter(
        hit__campaign=campaign,
        state__in=COUNTED,
        replaced_at=None,
        worker__exclusions__pool=campaign.pool,
    )
    workers = list(Worker.objects.filter(assignments__in=lost).distinct())
    if not workers:
        return 0
    emptied = _emptied(campaign)
    if not emptied and not reissue.n_affordable(campaign):
        reissue.note_shortage(campaign, lost.count())
        return 0
    extra = (lost.count() + sum(emptied.values())) * unit_cents(campaign)
    budgets.set_aside_again(
        key=campaign.key,
        pool=campaign.pool,
        cents=extra,
        at_most=campaign.budget_cents,
    )
    # Running first, because answers are replaced only in a running campaign.
    Campaign.objects.filter(pk=campaign_pk).update(
        state=Campaign.State.RUNNING, completed_at=None
    )
    for pk, n in emptied.items():
        for _ in range(n):
            slots.free(pk)
    n_replaced = sum(reissue.replace_answers(w, campaign.pool) for w in workers)
    return n_replaced + sum(emptied.values())


def _emptied(campaign: Campaign) -> dict[int, int]:
    answered = Q(assignments__state__in=COUNTED) | Q(
        assignments__replaced_at__isnull=False
    )
    taken = Q(assignments__state=Assignment.State.ACCEPTED)
    rows = (
        HIT.objects.filter(campaign=campaign)
        .annotate(
            n_empty=F("max_assignments")
            - F("n_available")
            - Count("assignments", filter=answered | taken)
        )
        .filter(n_empty__gt=0)
        .order_by("pk")
    )
    return dict(rows.values_list("pk", "n_empty"))
