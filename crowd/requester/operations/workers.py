from crowd.messages import services
from crowd.messages.models import Message
from crowd.requester import selectors
from crowd.requester.models import RequesterAssignment, WorkerAlias
from crowd.requester.protocol.call import Answer, Arguments, Call, handles
from crowd.requester.protocol.paging import page

DECIDED = (RequesterAssignment.State.APPROVED, RequesterAssignment.State.REJECTED)


@handles("CreateWorkerBlock")
def create_worker_block(call: Call, arguments: Arguments) -> Answer:
    worker = selectors.worker(call, arguments["WorkerId"])
    WorkerAlias.objects.filter(pk=worker.pk).update(block_reason=arguments["Reason"])
    return {}


@handles("DeleteWorkerBlock")
def delete_worker_block(call: Call, arguments: Arguments) -> Answer:
    worker = selectors.worker(call, arguments["WorkerId"])
    WorkerAlias.objects.filter(pk=worker.pk).update(block_reason=None)
    return {}


@handles("ListWorkerBlocks")
def list_worker_blocks(call: Call, arguments: Arguments) -> Answer:
    rows = WorkerAlias.objects.filter(
        requester=call.requester, block_reason__isnull=False
    )
    return page(
        call,
        arguments,
        rows,
        "WorkerBlocks",
        lambda row: {"WorkerId": row.customer_id, "Reason": row.block_reason},
    )


@handles("NotifyWorkers")
def notify_workers(call: Call, arguments: Arguments) -> Answer:
    known = {
        row.customer_id: row
        for row in WorkerAlias.objects.filter(
            requester=call.requester,
            customer_id__in=arguments["WorkerIds"],
            assignments__state__in=DECIDED,
        )
    }
    failures = []
    for customer_id in dict.fromkeys(arguments["WorkerIds"]):
        if customer_id not in known:
            failures.append(
                {
                    "NotifyWorkersFailureCode": "HardFailure",
                    "NotifyWorkersFailureMessage": "You have not reviewed any work by this worker.",
                    "WorkerId": customer_id,
                }
            )
            continue
        services.send_from_requester(
            known[customer_id],
            Message.Kind.REQUESTER,
            arguments["Subject"],
            arguments["MessageText"],
        )
    return {"NotifyWorkersFailureStatuses": failures}
