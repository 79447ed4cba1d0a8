"""Column names of tables, and the fields that they mean."""

import unicodedata
from collections.abc import Mapping, Sequence

#: The likelier name comes first; names are compared by `plain`.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "system": ("system", "model", "sys", "sys_id", "system_id", "submission"),
    "worker": (
        "worker", "annotator", "rater", "judge", "evaluator", "worker_id", "workerid",
        "annotator_id", "rater_id", "judge_hash",
    ),
    "instance": (
        "instance", "item", "segment", "seg", "sid", "seg_id", "segment_id", "item_id",
        "instance_id", "example", "mr_id", "pair_id", "question_id", "input",
    ),
    "criterion": ("criterion", "aspect", "dimension"),
    "value": ("value", "rating", "score", "raw"),
    "system_a": ("system_a", "model_a", "shown_a"),
    "system_b": ("system_b", "model_b", "shown_b"),
    "preferred": ("preferred", "winner", "preference", "choice"),
    "page": ("page", "hit"),
    "day": ("day",),
    "session": ("session", "session_id", "evaluation_session_id"),
}  # fmt: skip

#: Fields that only files of other tools have, or call differently.
MORE: Mapping[str, tuple[str, ...]] = {
    "system": ("system_name", "model_id", "model_name", "systemid", "mt_system"),
    "worker": (
        "user", "user_id", "username", "participant", "participant_id", "subject", "coder",
        "labeler", "assessor", "prolific_pid", "prolific_id",
        "subject_id", "responseid", "response_id",
    ),
    "instance": (
        "itemid", "example_id", "sample", "sample_id", "prompt_id", "doc_seg_id", "id", "idx",
    ),
    "criterion": ("criteria", "attribute", "measure"),
    "value": ("label", "annotation", "grade", "points", "stars"),
    "system_a": ("sys_a", "system1", "system_1", "model1", "model_1", "systema", "modela"),
    "system_b": ("sys_b", "system2", "system_2", "model2", "model_2", "systemb", "modelb"),
    "preferred": ("preferred_system", "vote", "better"),
    "page": ("hit_id", "hitid", "task_id", "screen", "assignment_id"),
    "place": ("place", "position"),
    "document": ("document", "doc", "doc_id", "docid", "document_id", "rid"),
    "domain": ("domain",),
    "language": ("language", "lang"),
    "at": (
        "time", "timestamp", "at", "created_at", "submit_time", "submitted_at", "end_time",
        "date", "datetime", "tstamp", "recordeddate",
    ),
    "began": ("accept_time", "started_at", "start_time", "accepted_at", "startdate"),
    "seconds": (
        "seconds", "work_seconds", "duration", "time_spent", "lead_time", "work_time",
        "time_taken", "duration_seconds", "duration_in_seconds",
    ),
    "role": ("role", "type", "item_type", "itemtype"),
    "counts": ("counts",),
    "output": (
        "output", "system_output", "prediction", "hypothesis", "hyp", "target", "text",
        "generated", "output_text", "model_output", "translation", "summary", "response", "answer",
    ),
    "input": ("input_text", "source", "src", "prompt", "mr", "question", "context", "input"),
    "reference": ("reference", "ref", "gold", "references"),
    "output_a": ("output_a", "text_a", "response_a", "output1", "text1", "answer_a"),
    "output_b": ("output_b", "text_b", "response_b", "output2", "text2", "answer_b"),
}  # fmt: skip

#: Columns that identify people; they are dropped, under any layout.
PERSONAL = frozenset(
    [
        "ip",
        "ip_address",
        "ipaddress",
        "email",
        "e_mail",
        "mail",
        "email_address",
        "recipientemail",
        "name",
        "full_name",
        "first_name",
        "last_name",
        "surname",
        "firstname",
        "lastname",
        "recipientfirstname",
        "recipientlastname",
        "annotator_name",
        "worker_name",
        "user_name_full",
        "location",
        "location_latitude",
        "locationlatitude",
        "location_longitude",
        "locationlongitude",
        "latitude",
        "longitude",
        "city",
        "region",
        "address",
        "phone",
        "telephone",
        "externaldatareference",
        "externalreference",
        "birthday",
        "date_of_birth",
    ]
)
_MARKS = frozenset("\"'`´‘’‚‛“”„‟«»‹›")


def plain(name: str) -> str:
    """Return a name in small letters, with one `_` for blanks, dots and hyphens.

    Examples
    --------
    >>> plain(" Worker ID"), plain("Duration (in seconds)")
    ('worker_id', 'duration_in_seconds')
    """
    letters = "".join(c if c.isalnum() else " " for c in str(name).lower())
    return "_".join(letters.split())


def fold_name(name: str) -> str:
    """Return a name without case, spaces and quotation marks.

    Examples
    --------
    >>> fold_name(" 'Red Hen'")
    'redhen'
    """
    letters = unicodedata.normalize("NFKC", name).casefold()
    return "".join(
        c for c in letters if c.isprintable() and not c.isspace() and c not in _MARKS
    )


def fields_of(header: Sequence[str]) -> dict[str, str]:
    """Return the column of each field of `ALIASES` or `MORE`.

    A column has one field, the first with a name for it.

    Examples
    --------
    >>> fields_of(["Model", "item", "Rater", "score", "input"])["input"]
    'input'
    """
    left = {plain(column): column for column in reversed(header)}
    found: dict[str, str] = {}
    for names in (ALIASES, MORE):
        for field, aliases in names.items():
            alias = next((name for name in aliases if name in left), None)
            if field not in found and alias is not None:
                found[field] = left.pop(alias)
    return found
