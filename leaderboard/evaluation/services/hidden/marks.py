"""Right answers and the wording of test questions about one output."""

from collections.abc import Mapping, Sequence
from typing import Any

from crowd.hits.services.build import ItemSpec
from crowd.scales.find import all_scales
from leaderboard.designs.base import Design, content_key
from leaderboard.evaluation.services.hidden.offers import Offer
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import shown, task_view
from quality.test_questions.services import HiddenItem, item_key

# Beside a standard worth 100, "good" begins at half as good: the standard is itself a
# reference, so another reference need not be better.
GOOD_MAGNITUDE = 0.5


def expected_on(
    human: HumanConfig, criteria: Mapping[str, str], marked: Sequence[str]
) -> dict[str, Any]:
    threshold = (
        {"threshold": GOOD_MAGNITUDE} if all_scales()[human.scale].relative else {}
    )
    return {**threshold, **named(criteria, marked)}


def named(criteria: Mapping[str, str], marked: Sequence[str]) -> dict[str, Any]:
    """Return the names of the marked criteria if there are others beside them."""
    return {"criteria": list(marked)} if len(criteria) > 1 else {}


def blank_data(
    task: Task, human: HumanConfig, design: Design, instance: Instance
) -> dict[str, Any]:
    return dict(design.data(task_view(task, human), shown(instance), [""]))


def question(
    task: Task,
    offer: Offer,
    instance: Instance,
    data: Mapping[str, Any],
    *,
    campaign_key: str,
    polarity: str,
    expected: Mapping[str, Any],
) -> HiddenItem:
    key = content_key(task.slug, instance.instance_id)
    return HiddenItem(
        spec=ItemSpec(
            key=item_key(campaign_key, polarity.lower(), key),
            data={**data, "prediction": offer.text},
            content_key=key,
        ),
        polarity=polarity,
        expected=expected,
        kind=offer.kind,
        made_from=offer.made_from,
        text_sha256=offer.text_sha256,
    )
