"""What a study is to be like and whom it is for: kept with the campaign, told once.

What the platform was told to require, it attests of everybody whom it sends. What is
required only afterwards it does not, and then nobody whom it sends gets work.
"""

from dataclasses import asdict

from crowd.elsewhere.models.external import ExternalCampaign, ExternalSession
from crowd.elsewhere.models.panel import PanelSource
from crowd.hits.models.campaign import Campaign
from crowd.platforms.base import Platform
from crowd.platforms.demands import Requirements, StudyTerms
from crowd.workers.models.requirement import Requirement
from crowd.workers.selectors.platform_requirements import (
    check_platform,
    guarantees,
    of_work,
    summed,
)

LATE = "Required after the study was published, so that nobody gets work: "


def keep_terms(campaign: Campaign, study: StudyTerms) -> None:
    """Keep what the task says of its studies; callers open the transaction."""
    if study != StudyTerms():
        ExternalCampaign.objects.update_or_create(
            campaign=campaign, defaults={"terms": asdict(study)}
        )


def terms_of(place: ExternalCampaign) -> StudyTerms:
    return StudyTerms(**place.terms)


def settle(campaign: Campaign, place: ExternalCampaign, platform: Platform) -> None:
    """Fix what the platform will be told to require, once it can.

    Raises
    ------
    GenieError
        ``requirement-not-checked`` where it cannot keep everybody else away.
    """
    rows = of_work(campaign)
    check_platform(campaign.platform, rows, terms_of(place))
    platform.check_filters(summed(rows), terms_of(place))
    place.attested = [row.content for row in rows]


def told(place: ExternalCampaign) -> Requirements:
    """Sum up what the platform is told, whatever has been required since."""
    return summed(
        Requirement(
            kind=kind, test_name=name, at_least=n, countries=codes, languages=codes
        )
        for kind, name, n, codes in place.attested
    )


def note_late(campaign: Campaign, place: ExternalCampaign) -> None:
    """Tell staff of requirements that the platform has not heard of."""
    late = [str(row) for row in of_work(campaign) if row.content not in place.attested]
    rows = ExternalCampaign.objects.filter(pk=place.pk)
    if late:
        rows.update(trouble=f"{LATE}{'; '.join(late)}. Remove it, or stop."[:500])
    else:
        rows.filter(trouble__startswith=LATE).update(trouble="")


def note_visit(session: ExternalSession, panel: PanelSource | None) -> None:
    """Keep with a visit what is attested of the person, by the platform or the panel."""
    if panel is not None:
        rows = of_work(session.campaign)
        contents = [row.content for row in rows if guarantees(panel, row)]
    else:
        place = ExternalCampaign.objects.filter(campaign=session.campaign_id).first()
        contents = place.attested if place is not None else []
    if contents != session.attested:
        session.attested = contents
        session.save(update_fields=["attested"])
