"""A pilot: a few people rate a few pages, to measure time and agreement.

It is a campaign in a separate pool, before the task exists: no score, board, release or
detector reads its ratings. Only people with its link get its pages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.hits.models import Campaign, Pool
from crowd.hits.selectors import campaign_progress
from crowd.hits.services.build import ItemSpec, build_campaign
from crowd.money.services import budgets
from crowd.scales.base import all_scales
from crowd.workers.services import invitations
from genie.lib.errors import GenieError
from genie.lib.seeds import generator
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.designs.base import Unit, content_key, unit_of
from leaderboard.evaluation.campaigns import asks_again, close_campaigns, is_over
from leaderboard.evaluation.evidence import agreement
from leaderboard.stats.mixed import Components, pilot_components
from leaderboard.studio.models import Draft
from leaderboard.studio.services.preview import page_like
from leaderboard.tasks.drafts.bundle import Bundle
from leaderboard.tasks.intake.join import Material
from leaderboard.tasks.services.configuration import pay_problem, unsaved_task
from quality.bans.selectors import clean_ratings

if TYPE_CHECKING:
    import pandas as pd

N_ITEMS, N_PEOPLE = 10, 3
DAYS = 14
# With fewer ratings, their variance is not estimated.
FEWEST_RATINGS = 10
_PREFIX = "pilot_"


@dataclass(frozen=True)
class Wanted:
    n_items: int = N_ITEMS
    n_people: int = N_PEOPLE
    reward_cents: int = 0
    # whether the person who starts it takes one of the places
    joins: bool = True

    @property
    def cents(self) -> int:
        """Price; on this site there is no fee."""
        return self.n_items * self.n_people * self.reward_cents


@dataclass(frozen=True)
class Measured:
    """The measurements of a pilot.

    `n_ratings` are pages rated, and `seconds` the median active time on one. `agreement`
    has Krippendorff's alpha by criterion; None if no two people rated the same page, or
    all answers are the same. `components` are those of the ranking criterion, in points.
    """

    n_ratings: int
    n_people: int
    seconds: float | None
    agreement: Mapping[str, dict[str, Any] | None]
    components: Components | None

    def to_json(self) -> dict[str, Any]:
        return {
            "seconds": self.seconds,
            "n_ratings": self.n_ratings,
            "n_people": self.n_people,
            "components": asdict(self.components) if self.components else None,
        }


def campaign_of(draft: Draft) -> Campaign | None:
    return Campaign.objects.filter(key=_name(draft, number_of(draft))).first()


@transaction.atomic
def begin(
    draft: Draft, bundle: Bundle, material: Material, wanted: Wanted, *, by: Account
) -> str:
    """Start a pilot at a price that a person has approved; return its link's token.

    Pages are drawn at random; the systems take turns on them.

    Raises ``pilot-runs``, ``below-minimum-pay``, ``over-budget``, and errors of pages.
    """
    # Two clicks at once start one pilot.
    draft = Draft.objects.select_for_update(of=("self",)).get(pk=draft.pk)
    if draft.task_id is not None:
        raise GenieError("The task has already been loaded.", code="already-loaded")
    before = campaign_of(draft)
    over = {Campaign.State.COMPLETE, Campaign.State.STOPPED}
    if before and not (before.state in over or is_over(before)):
        raise GenieError(
            "A pilot of this draft is running. Stop it first.", code="pilot-runs"
        )
    _check_pay(bundle, wanted)
    name = _name(draft, number_of(draft) + 1)
    seed = seed_for("pilot", name)
    drawn = generator(seed).permutation(len(material.items))[: wanted.n_items]
    few = replace(material, items=[material.items[int(at)] for at in drawn])
    pages = [page_like(bundle, few, number) for number in range(len(few.items))]
    Pool.objects.create(slug=name)
    budgets.commit(key=name, pool=name, amount_cents=wanted.cents, by=by)
    campaign = build_campaign(
        key=name,
        pool=name,
        title=f"Pilot: {draft.title}"[:200],
        hit_type=replace(pages[0][0], reward_cents=wanted.reward_cents),
        items=[
            ItemSpec(
                # the pages show the systems in turn
                f"{name}:{item.id}:{number % len(material.systems)}",
                data,
                content_key(name, item.id),
            )
            for number, (item, (_, data)) in enumerate(
                zip(few.items, pages, strict=True)
            )
        ],
        budget_cents=wanted.cents,
        seed=seed,
        starts_at=timezone.now(),
        exposure="campaign",
        max_assignments=wanted.n_people,
    )
    # In the transaction that builds it, so that other workers get no page meanwhile.
    token = invitations.invite(
        by, campaign.title, days=DAYS, places=wanted.n_people, campaign=campaign
    )
    if wanted.joins:
        invitations.redeem(token, by)
    run.start_due()
    draft.state = {**draft.state, "pilots": number_of(draft) + 1}
    draft.save()
    return token


def _check_pay(bundle: Bundle, wanted: Wanted) -> None:
    """Refuse a reward below the minimum; people come by the link and may be unpaid."""
    asked = unsaved_task(bundle.slug, bundle.document, wanted.n_items).asked
    human = replace(asked, reward_cents=wanted.reward_cents, platform=run.HERE)
    if problem := pay_problem(human):
        raise GenieError(f"The pilot's reward {problem}", code="below-minimum-pay")


def end(draft: Draft, *, by: Account | None, reason: str) -> None:
    campaign = campaign_of(draft)
    if campaign is not None:
        run.stop(campaign.pk, by, reason)
        close(campaign)


@transaction.atomic
def close(campaign: Campaign) -> None:
    """Settle a pilot's account if no worker is active."""
    close_campaigns([campaign])


def close_over() -> None:
    """Settle all pilots that are over, also those of deleted drafts."""
    for campaign in Campaign.objects.filter(asks_again(), key__startswith=_PREFIX):
        close(campaign)


def measure_pilot(campaign: Campaign) -> Measured:
    ratings = clean_ratings(campaign)
    kind = campaign.hit_type
    unit = unit_of(all_scales()[kind.scale])
    first = ratings[ratings["criterion"] == next(iter(kind.criteria))]
    return Measured(
        n_ratings=len(first.drop_duplicates(["item", "worker"])),
        n_people=int(first["worker"].nunique()),
        seconds=campaign_progress(campaign).median_active_seconds,
        agreement={
            name: agreement(
                ratings[ratings["criterion"] == name].assign(
                    submission=ratings["slot"], instance=ratings["item"]
                ),
                unit,
            )
            for name in kind.criteria
        },
        components=_components(
            first, unit, dict(campaign.items.values_list("pk", "key"))
        ),
    )


def _components(
    ratings: pd.DataFrame, unit: Unit, key_of: Mapping[int, str]
) -> Components | None:
    """Estimate the variance components; None without any variation."""
    if len(ratings) < FEWEST_RATINGS or unit.logarithmic or ratings["slot"].any():
        return None
    systems = ratings["item"].map(key_of).str.rpartition(":")[2]
    systems = systems if 2 * systems.nunique() <= len(systems) else systems.str[:0]
    found = pilot_components(
        unit.to_averaged(ratings["value"].to_numpy(np.float64)),
        instances=ratings["item"].to_numpy(),
        workers=ratings["worker"].to_numpy(),
        systems=systems.to_numpy(),
        tastes=(systems + " " + ratings["worker"].astype(str)).to_numpy(),
    )
    return found if found.total > 0 and math.isfinite(found.total) else None


def number_of(draft: Draft) -> int:
    return int(draft.state.get("pilots", 0))


def _name(draft: Draft, number: int) -> str:
    """Return the name of its campaign, pool and account; no task's name has a "_"."""
    return f"{_PREFIX}{draft.pk}_{number}"
