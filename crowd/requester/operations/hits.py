from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import QuerySet

from crowd.requester import selectors
from crowd.requester.models import (
    PolicyDetail,
    RequesterHIT,
    RequesterHITType,
    RequesterLayout,
)
from crowd.requester.operations import render, tokens
from crowd.requester.operations.hit_types import find_or_make
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.errors import TurkError, bad_value, wrong_state
from crowd.requester.protocol.paging import page
from crowd.requester.questions.policies import NAMES, read_policy
from crowd.requester.questions.questions import read_question
from crowd.requester.questions.template import as_question, fields_of, fill
from crowd.requester.selectors import kept_hits, status_of, with_counts
from crowd.requester.services import events, money, requirements
from genie.lib.errors import GenieError

MANY = 10
REVIEW = ("Reviewing", "Reviewable")


@handles("CreateHIT")
def create_hit(call: Call, arguments: Arguments) -> Answer:
    _refuse_repeated(call, arguments)
    content = _content(call, arguments)
    return _post(call, find_or_make(call, arguments), arguments, content)


@handles("CreateHITWithHITType")
def create_hit_with_hit_type(call: Call, arguments: Arguments) -> Answer:
    _refuse_repeated(call, arguments)
    hit_type = selectors.hit_type(call, arguments["HITTypeId"])
    content = _content(call, arguments)
    requirements.check(call, hit_type.requirements)
    return _post(call, hit_type, arguments, content)


@handles("GetHIT")
def get_hit(call: Call, arguments: Arguments) -> Answer:
    return {"HIT": render.hit(selectors.hit(call, arguments["HITId"]), call.now)}


@handles("CreateAdditionalAssignmentsForHIT")
def create_additional_assignments(call: Call, arguments: Arguments) -> Answer:
    token = arguments.get("UniqueRequestToken")
    tokens.refuse_repeated(call, token)
    hit = selectors.hit(call, arguments["HITId"])
    n = arguments["NumberOfAdditionalAssignments"]
    # From ten assignments on the fee is higher, and this HIT's was fixed when it was
    # posted.
    if hit.max_assignments < MANY <= hit.max_assignments + n:
        raise TurkError(
            "A HIT that was created with fewer than 10 assignments cannot be extended "
            "to have 10 or more.",
            "InvalidMaximumAssignmentsIncrease",
        )
    if hit.max_assignments + n > 10**9:
        raise TurkError("A HIT cannot have that many assignments.")
    if hit.expires_at > call.now:
        money.require(call.requester, (hit.reward_cents + hit.fee_cents) * n)
    _change(call, hit, max_assignments=hit.max_assignments + n)
    events.about_hit(hit, "HITExtended", call.now)
    tokens.remember(call, token, hit.entity_id)
    return {}


@handles("UpdateExpirationForHIT")
def update_expiration(call: Call, arguments: Arguments) -> Answer:
    hit = selectors.hit(call, arguments["HITId"])
    # Callers send no token here; the same request for the same HIT is a repetition.
    token = f"{hit.entity_id}:{arguments['ExpireAt']}"
    tokens.refuse_repeated(call, token)
    requested = datetime.fromtimestamp(arguments["ExpireAt"], UTC)
    year = timedelta(days=365)
    if requested > call.now + year:
        raise TurkError("A HIT must expire within a year.")
    ends = max(requested, call.now)
    # An expired HIT holds no money for its free places; reopened, it does.
    if ends > call.now >= hit.expires_at:
        taken = hit.n_open + hit.n_submitted
        free = hit.max_assignments - hit.n_decided - taken
        money.require(call.requester, (hit.reward_cents + hit.fee_cents) * max(free, 0))
    _change(call, hit, expires_at=ends)
    tokens.remember(call, token, hit.entity_id)
    return {}


@handles("UpdateHITReviewStatus")
def update_review_status(call: Call, arguments: Arguments) -> Answer:
    hit = selectors.hit(call, arguments["HITId"])
    status = status_of(hit, call.now)
    if status not in REVIEW:
        raise wrong_state("HIT", status, ", ".join(REVIEW))
    RequesterHIT.objects.filter(pk=hit.pk).update(
        reviewing=not arguments.get("Revert"), touched_at=call.now
    )
    return {}


@handles("DeleteHIT")
def delete_hit(call: Call, arguments: Arguments) -> Answer:
    hit = selectors.hit_or_disposed(call, arguments["HITId"])
    status = status_of(hit, call.now)
    if status not in REVIEW:
        raise wrong_state("HIT", status, ", ".join(REVIEW))
    if hit.n_submitted:
        raise TurkError(
            "This HIT has submitted assignments that are neither approved nor rejected.",
            "InvalidHITState",
        )
    RequesterHIT.objects.filter(pk=hit.pk).update(disposed_at=call.now)
    money.hold(hit.pk, call.now)
    events.about_hit(hit, "HITDisposed", call.now)
    return {}


def _content(call: Call, arguments: Arguments) -> dict[str, Any]:
    policies = {
        level: policy
        for level in NAMES
        if (policy := arguments.get(f"{level}ReviewPolicy")) is not None
    }
    for level, policy in policies.items():
        read_policy(level, policy)
    question, layout = arguments.get("Question"), None
    if arguments.get("HITLayoutId") or arguments.get("HITLayoutParameters"):
        if question is not None:
            raise TurkError("Give either a Question or a HITLayoutId, not both.")
        layout, question = _fill_layout(call, arguments)
    if question is None:
        raise TurkError(
            "Give a Question or a HITLayoutId for the page that workers see."
        )
    read_question(question)
    return {"question": question, "layout": layout, "policies": policies or None}


def _fill_layout(call: Call, arguments: Arguments) -> tuple[RequesterLayout, str]:
    layout_id = arguments.get("HITLayoutId") or ""
    layout = RequesterLayout.objects.filter(
        requester=call.requester, entity_id=layout_id, retired_at=None
    ).first()
    if layout is None:
        raise bad_value("HITLayoutId", layout_id)
    given = arguments.get("HITLayoutParameters") or []
    values = {one["Name"]: one["Value"] for one in given}
    fields = fields_of(layout.page)
    wrong = sorted(set(values) ^ set(fields))
    if wrong or len(given) > len(values):
        expected = ", ".join(fields) or "none"
        raise TurkError(
            f"HITLayoutParameters must give each field of the layout a value, once: "
            f"{expected[:1000]}."
        )
    try:
        # as on Mechanical Turk, values are HTML
        return layout, as_question(fill(layout.page, values, markup=True))
    except GenieError as error:
        raise TurkError(error.message) from None


def _post(
    call: Call,
    hit_type: RequesterHITType,
    arguments: Arguments,
    content: dict[str, Any],
) -> Answer:
    n = arguments.get("MaxAssignments") or 1
    fee = money.fee(hit_type.reward_cents, n, hit_type.requirements)
    money.require(call.requester, n * (hit_type.reward_cents + fee))
    hit = RequesterHIT.objects.create(
        requester=call.requester,
        hit_type=hit_type,
        **content,
        annotation=arguments.get("RequesterAnnotation") or "",
        max_assignments=n,
        reward_cents=hit_type.reward_cents,
        fee_cents=fee,
        created_at=call.now,
        expires_at=call.now + timedelta(seconds=arguments["LifetimeInSeconds"]),
        touched_at=call.now,
    )
    money.hold(hit.pk, call.now)
    tokens.remember(call, arguments.get("UniqueRequestToken"), hit.entity_id)
    events.about_hit(hit, "HITCreated", call.now)
    return {"HIT": render.hit(selectors.hit(call, hit.entity_id), call.now)}


def _refuse_repeated(call: Call, arguments: Arguments) -> None:
    before = tokens.made_before(call, arguments.get("UniqueRequestToken"))
    if before is not None:
        raise TurkError(
            f'The HIT with ID "{before.made}" already exists.', "HitAlreadyExists"
        )


def _change(call: Call, hit: RequesterHIT, **values: Any) -> None:
    """Store a change that may allow more work; if it does, its end is announced again."""
    rows = RequesterHIT.objects.filter(pk=hit.pk)
    rows.update(**values, touched_at=call.now)
    if status_of(with_counts(rows, call.now).get(), call.now) not in REVIEW:
        rows.update(announced=False)
    money.hold(hit.pk, call.now)


@handles("ListHITs")
def list_hits(call: Call, arguments: Arguments) -> Answer:
    return _page(call, arguments, kept_hits(call.requester, call.now))


@handles("ListReviewableHITs")
def list_reviewable_hits(call: Call, arguments: Arguments) -> Answer:
    # `settle` has announced all HITs that can get no more work at present.
    rows = kept_hits(call.requester, call.now).filter(
        announced=True, reviewing=arguments.get("Status") == "Reviewing"
    )
    if type_id := arguments.get("HITTypeId"):
        rows = rows.filter(hit_type=selectors.hit_type(call, type_id))
    return _page(call, arguments, rows)


@handles("ListHITsForQualificationType")
def list_hits_for_qualification_type(call: Call, arguments: Arguments) -> Answer:
    qualification_type = selectors.qualification_type(
        call, arguments["QualificationTypeId"]
    )
    types = [
        row.pk
        for row in RequesterHITType.objects.filter(requester=call.requester)
        if qualification_type.entity_id
        in {requirement["QualificationTypeId"] for requirement in row.requirements}
    ]
    rows = kept_hits(call.requester, call.now).filter(hit_type__in=types)
    return _page(call, arguments, rows)


def _page(call: Call, arguments: Arguments, rows: QuerySet[RequesterHIT]) -> Answer:
    return page(
        call,
        arguments,
        rows,
        "HITs",
        partial(render.hit, now=call.now),
        load=partial(with_counts, now=call.now),
    )


@handles("ListReviewPolicyResultsForHIT")
def list_review_policy_results(call: Call, arguments: Arguments) -> Answer:
    hit = selectors.hit(call, arguments["HITId"])
    levels = arguments.get("PolicyLevels") or list(NAMES)
    rows = PolicyDetail.objects.filter(hit=hit.pk, level__in=levels)
    # Both are included by default.
    if arguments.get("RetrieveActions") is False:
        rows = rows.filter(is_action=False)
    if arguments.get("RetrieveResults") is False:
        rows = rows.filter(is_action=True)
    listed = page(call, arguments, rows, "rows", lambda row: row)
    answer: Answer = {"HITId": hit.entity_id}
    for level in levels:
        if policy := (hit.policies or {}).get(level):
            answer[f"{level}ReviewPolicy"] = {"PolicyName": policy["PolicyName"]}
            answer[f"{level}ReviewReport"] = {
                name: [
                    row.body
                    for row in listed["rows"]
                    if row.level == level and row.is_action == is_action
                ]
                for name, is_action in (
                    ("ReviewResults", False),
                    ("ReviewActions", True),
                )
            }
    if "NextToken" in listed:
        answer["NextToken"] = listed["NextToken"]
    return answer


@handles("GetFileUploadURL")
def get_file_upload_url(call: Call, arguments: Arguments) -> Answer:
    """Refuse: questions that take files were withdrawn in December 2017."""
    selectors.assignment(call, arguments["AssignmentId"])
    raise TurkError(
        f"The question {arguments['QuestionIdentifier'][:100]} does not accept files."
    )
