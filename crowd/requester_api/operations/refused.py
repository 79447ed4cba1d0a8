"""Operations whose answer is the documented refusal, or nothing to report."""

from __future__ import annotations

from crowd.requester_api import find
from crowd.requester_api.call import Answer, Arguments, Call, handles
from crowd.requester_api.errors import TurkError


@handles("GetFileUploadURL")
def get_file_upload_url(call: Call, arguments: Arguments) -> Answer:
    """Refuse: questions that take files were withdrawn in December 2017."""
    find.assignment(call, arguments["AssignmentId"])
    raise TurkError(
        f"The question {arguments['QuestionIdentifier'][:100]} does not accept files."
    )


@handles("ListReviewPolicyResultsForHIT")
def list_review_policy_results(call: Call, arguments: Arguments) -> Answer:
    """Name the HIT only: none has a review policy."""
    if arguments.get("NextToken") is not None:
        raise TurkError("There is no next page.")
    return {"HITId": find.hit(call, arguments["HITId"]).entity_id}
