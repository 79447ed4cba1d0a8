from django.db.models import Q

from crowd.messages import services
from crowd.messages.models import Message
from crowd.requester import selectors
from crowd.requester.models import Qualification, QualificationRequest, WorkerAlias
from crowd.requester.operations import render
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.errors import TurkError, wrong_state
from crowd.requester.protocol.paging import page
from crowd.requester.services.qualification_requests import grant

Pending = QualificationRequest.State


@handles("AssociateQualificationWithWorker")
def associate_qualification(call: Call, arguments: Arguments) -> Answer:
    qualification_type = selectors.qualification_type(
        call, arguments["QualificationTypeId"]
    )
    worker = selectors.worker(call, arguments["WorkerId"])
    grant(qualification_type, worker, _value(arguments), call.now)
    if arguments.get("SendNotification") is not False:
        _tell(worker, f"You now have the qualification {qualification_type.name}.")
    return {}


@handles("DisassociateQualificationFromWorker")
def disassociate_qualification(call: Call, arguments: Arguments) -> Answer:
    row = _qualification(call, arguments)
    reason = arguments.get("Reason") or ""
    Qualification.objects.filter(pk=row.pk).update(granted=False, reason=reason)
    name = row.qualification_type.name
    _tell(row.worker, f"The qualification {name} was revoked. {reason}")
    return {}


@handles("GetQualificationScore")
def get_qualification_score(call: Call, arguments: Arguments) -> Answer:
    return {"Qualification": render.qualification(_qualification(call, arguments))}


@handles("ListWorkersWithQualificationType")
def list_workers(call: Call, arguments: Arguments) -> Answer:
    qualification_type = selectors.qualification_type(
        call, arguments["QualificationTypeId"]
    )
    rows = Qualification.objects.filter(
        qualification_type=qualification_type
    ).select_related("qualification_type", "worker")
    if status := arguments.get("Status"):
        rows = rows.filter(granted=status == "Granted")
    return page(call, arguments, rows, "Qualifications", render.qualification)


@handles("ListQualificationRequests")
def list_qualification_requests(call: Call, arguments: Arguments) -> Answer:
    condition = Q(qualification_type__requester=call.requester)
    if entity_id := arguments.get("QualificationTypeId"):
        condition &= Q(qualification_type=selectors.qualification_type(call, entity_id))
    rows = QualificationRequest.objects.filter(
        condition, state=Pending.PENDING, qualification_type__disposed_at=None
    ).select_related("qualification_type", "worker")
    return page(
        call, arguments, rows, "QualificationRequests", render.qualification_request
    )


@handles("AcceptQualificationRequest")
def accept_qualification_request(call: Call, arguments: Arguments) -> Answer:
    row = _decide(call, arguments["QualificationRequestId"], Pending.GRANTED)
    grant(row.qualification_type, row.worker, _value(arguments), call.now)
    return {}


@handles("RejectQualificationRequest")
def reject_qualification_request(call: Call, arguments: Arguments) -> Answer:
    reason = arguments.get("Reason") or ""
    row = _decide(call, arguments["QualificationRequestId"], Pending.REJECTED, reason)
    name = row.qualification_type.name
    _tell(row.worker, f"Your request for {name} was refused. {reason}")
    return {}


def _value(arguments: Arguments) -> int:
    value = arguments.get("IntegerValue")
    return 1 if value is None else int(value)


def _qualification(call: Call, arguments: Arguments) -> Qualification:
    qualification_type = selectors.qualification_type(
        call, arguments["QualificationTypeId"]
    )
    worker = selectors.worker(call, arguments["WorkerId"])
    row = (
        Qualification.objects.filter(
            qualification_type=qualification_type, worker=worker
        )
        .select_related("qualification_type", "worker")
        .first()
    )
    if row is None:
        raise TurkError(
            f"Qualification {qualification_type.entity_id} of worker "
            f"{worker.customer_id} does not exist.",
            "QualificationDoesNotExist",
        )
    if not row.granted:
        raise wrong_state("Qualification", "Revoked", "Granted")
    return row


def _decide(
    call: Call, entity_id: str, state: QualificationRequest.State, reason: str = ""
) -> QualificationRequest:
    row = selectors.qualification_request(call, entity_id)
    decided = QualificationRequest.objects.filter(
        pk=row.pk, state=Pending.PENDING
    ).update(state=state, reason=reason)
    if not decided:
        raise TurkError(
            "This request has already been decided.", "InvalidQualificationRequestState"
        )
    return row


def _tell(worker: WorkerAlias, sentence: str) -> None:
    services.send_from_requester(
        worker, Message.Kind.REQUESTER, "Qualifications", sentence.strip()
    )
