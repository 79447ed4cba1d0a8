from quality.bans.models import HeldExclusion


def waits_for_decision(pool: str, *, simulated: bool) -> bool:
    """Tell whether exclusions of the pool wait for a person: nothing ends meanwhile."""
    return HeldExclusion.objects.filter(
        pool=pool, state=HeldExclusion.State.WAITING, worker__simulated=simulated
    ).exists()
