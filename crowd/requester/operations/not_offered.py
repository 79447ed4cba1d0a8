"""Operations whose answer is the documented refusal, or nothing to report."""

from __future__ import annotations

from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.errors import TurkError
from crowd.requester.selectors import own_rows


@handles("GetFileUploadURL")
def get_file_upload_url(call: Call, arguments: Arguments) -> Answer:
    """Refuse: questions that take files were withdrawn in December 2017."""
    own_rows.assignment(call, arguments["AssignmentId"])
    raise TurkError(
        f"The question {arguments['QuestionIdentifier'][:100]} does not accept files."
    )


@handles("ListReviewPolicyResultsForHIT")
def list_review_policy_results(call: Call, arguments: Arguments) -> Answer:
    """Name the HIT only: none has a review policy."""
    if arguments.get("NextToken") is not None:
        raise TurkError("There is no next page.")
    return {"HITId": own_rows.hit(call, arguments["HITId"]).entity_id}
