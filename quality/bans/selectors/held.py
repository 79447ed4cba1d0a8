from quality.bans.models import HeldExclusion


def waits_for_decision(pool: str, *, simulated: bool) -> bool:
    """Return whether exclusions wait for a person; no campaign ends meanwhile."""
    return HeldExclusion.objects.filter(
        pool=pool, state=HeldExclusion.State.WAITING, worker__simulated=simulated
    ).exists()
