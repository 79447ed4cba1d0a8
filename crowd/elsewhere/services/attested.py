"""The terms and requirements of a study, stored with the campaign and sent once.

The platform guarantees the requirements it was sent for all people it sends. It does
not guarantee later ones, so then no one it sends gets work.
"""

from dataclasses import asdict

from crowd.elsewhere.models import ExternalCampaign, ExternalSession, PanelSource
from crowd.hits.models import Campaign
from crowd.platforms.base import Platform, Requirements, StudyTerms
from crowd.workers.models.requirement import Requirement
from crowd.workers.services.requirements import (
    check_platform,
    guarantees,
    of_work,
    sum_requirements,
)

LATE = "Required after the study was published, so workers get no work: "


def keep_terms(campaign: Campaign, study: StudyTerms) -> None:
    """Store the task's terms for its studies; callers open the transaction."""
    if study != StudyTerms():
        ExternalCampaign.objects.update_or_create(
            campaign=campaign, defaults={"terms": asdict(study)}
        )


def terms_of(place: ExternalCampaign) -> StudyTerms:
    return StudyTerms(**place.terms)


def settle(campaign: Campaign, place: ExternalCampaign, platform: Platform) -> None:
    """Fix the requirements to send to the platform, once it is known.

    Raises
    ------
    GenieError
        ``requirement-not-checked`` if it cannot filter by a requirement.
    """
    rows = of_work(campaign)
    check_platform(campaign.platform, rows, terms_of(place))
    platform.check_filters(sum_requirements(rows), terms_of(place))
    place.attested = [row.content for row in rows]


def attested_requirements(place: ExternalCampaign) -> Requirements:
    return sum_requirements(
        Requirement(
            kind=kind, test_name=name, at_least=n, countries=codes, languages=codes
        )
        for kind, name, n, codes in place.attested
    )


def note_late(campaign: Campaign, place: ExternalCampaign) -> None:
    late = [str(row) for row in of_work(campaign) if row.content not in place.attested]
    rows = ExternalCampaign.objects.filter(pk=place.pk)
    if late:
        rows.update(trouble=f"{LATE}{'; '.join(late)}. Remove it, or stop."[:500])
    else:
        rows.filter(trouble__startswith=LATE).update(trouble="")


def note_visit(session: ExternalSession, panel: PanelSource | None) -> None:
    if panel is not None:
        rows = of_work(session.campaign)
        contents = [row.content for row in rows if guarantees(panel, row)]
    else:
        place = ExternalCampaign.objects.filter(campaign=session.campaign_id).first()
        contents = place.attested if place is not None else []
    if contents != session.attested:
        session.attested = contents
        session.save(update_fields=["attested"])
