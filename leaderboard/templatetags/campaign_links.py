from typing import Any

from django import template

from crowd.hits.selectors import state_words
from genie.accounts.staff import staff_may
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.system_ratings import campaigns_of
from leaderboard.submissions.selectors import Staff

register = template.Library()
register.filter("state_words", state_words)


@register.inclusion_tag("leaderboard/parts/staff_campaigns.html", takes_context=True)
def staff_campaigns(
    context: template.RequestContext, evaluation: HumanEvaluation | None
) -> dict[str, Any]:
    may_see = (
        evaluation is not None
        and not evaluation.imported_id
        and not evaluation.task.by_colleagues
        and staff_may(
            context["request"].user, Staff.SEE_CAMPAIGNS, evaluation.task.slug
        )
    )
    return {"campaigns": campaigns_of(evaluation) if evaluation and may_see else []}
