"""Solutions of a campaign's notices: buttons or pages."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from crowd.campaigns.services import staff_notices
from crowd.campaigns.services.reissue import without_shortage
from crowd.hits.models.campaign import Campaign
from genie.accounts.staff import staff_may


@dataclass(frozen=True)
class Solution:
    label: str
    action: str = ""
    url: str = ""


def solutions(campaign: Campaign, viewer: object) -> list[Solution]:
    """Return the solutions of the campaign's notices that the viewer may use."""
    notice, found = campaign.notice, []
    if without_shortage(notice) != notice:
        found.append(Solution("Add money …", action="add_money_selected"))
    if staff_notices.UNDERPAID in notice:
        found.append(Solution("Top up low pay …", action="make_up_selected"))
        found.append(Solution("Change the reward …", action="change_reward_selected"))
    if staff_notices.HELD_BY_SHARES in notice:
        lift = Solution("Lift the limit per worker …", action="lift_share_selected")
        found.append(lift)
    if not staff_may(viewer, "crowd.change_campaign", campaign.pool):
        found = []
    for sentences, label, permission, of_site, address in _PAGES:
        pool = None if of_site else campaign.pool
        if any(one in notice for one in sentences) and staff_may(
            viewer, permission, pool
        ):
            found.append(Solution(label, url=address(campaign)))
    return found


def _with_pool(name: str, parameter: str) -> Callable[[Campaign], str]:
    def address(campaign: Campaign) -> str:
        return f"{reverse(name)}?{urlencode({parameter: campaign.pool})}"

    return address


_STARVED = (staff_notices.STARVED, staff_notices.HELD_BY_SHARES)
_CARELESS = (staff_notices.TOO_FAST, staff_notices.BAD_CROWD)
# sentences, label, permission, whether it is the whole site's, address
_PAGES: tuple[
    tuple[tuple[str, ...], str, str, bool, Callable[[Campaign], str]], ...
] = (
    (
        _STARVED,
        "Invite workers",
        "crowd.add_invitation",
        True,
        lambda _: reverse("admin:crowd_invitation_add"),
    ),
    (
        _STARVED,
        "See what is required",
        "crowd.view_requirement",
        False,
        _with_pool("admin:crowd_requirement_changelist", "pool"),
    ),
    (
        _CARELESS,
        "Check the workers",
        "quality.view_grade",
        False,
        _with_pool("admin:quality_grade_changelist", "pool"),
    ),
    (
        (staff_notices.BAD_CROWD,),
        "Check the test questions",
        "quality.view_retiredquestion",
        False,
        _with_pool("admin:quality_retiredquestion_changelist", "fit__pool"),
    ),
)
