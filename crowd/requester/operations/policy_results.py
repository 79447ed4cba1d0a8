"""What the review policies of a HIT found and did."""

from __future__ import annotations

from typing import Any

from crowd.requester.models.records import PolicyDetail
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.paging import page
from crowd.requester.questions.policies import NAMES
from crowd.requester.selectors import own_rows


@handles("ListReviewPolicyResultsForHIT")
def list_review_policy_results(call: Call, arguments: Arguments) -> Answer:
    """List results and actions in the order in which they came about."""
    hit = own_rows.hit(call, arguments["HITId"])
    levels = arguments.get("PolicyLevels") or list(NAMES)
    rows = PolicyDetail.objects.filter(hit=hit.pk, level__in=levels)
    # what is not mentioned is wanted
    if arguments.get("RetrieveActions") is False:
        rows = rows.filter(is_action=False)
    if arguments.get("RetrieveResults") is False:
        rows = rows.filter(is_action=True)
    listed = page(call, arguments, rows, "rows", _detail)
    answer: Answer = {"HITId": hit.entity_id}
    for level in levels:
        if policy := (hit.policies or {}).get(level):
            answer[f"{level}ReviewPolicy"] = {"PolicyName": policy["PolicyName"]}
            answer[f"{level}ReviewReport"] = {
                name: [body for row, body in listed["rows"] if row == (level, name)]
                for name in ("ReviewResults", "ReviewActions")
            }
    if "NextToken" in listed:
        answer["NextToken"] = listed["NextToken"]
    return answer


def _detail(row: PolicyDetail) -> tuple[tuple[str, str], Any]:
    return (row.level, "ReviewActions" if row.is_action else "ReviewResults"), row.body
