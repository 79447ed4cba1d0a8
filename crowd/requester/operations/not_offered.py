"""The operation whose answer is the documented refusal."""

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
