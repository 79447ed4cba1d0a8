from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from crowd.elsewhere.pages import for_workers
from crowd.requester.models import RequesterHIT, RequesterHITType
from crowd.requester.pages.fields import form_parts
from crowd.requester.pages.frame import frame_address, sandbox_of
from crowd.requester.pages.origin import admit
from crowd.requester.protocol import clock
from crowd.requester.questions.question_form import read_form
from crowd.requester.questions.questions import read_question
from crowd.requester.services import offers, turns
from crowd.workers.models.worker import Worker
from genie.lib.errors import GenieError
from genie.lib.serving.pages import post_or

# Two workers who look at one HIT both get one if there are two.
TRIES = 20


@for_workers
def groups(request: HttpRequest, worker: Worker) -> HttpResponse:
    now = clock.now()
    context = {
        "here": "requests",
        "groups": offers.groups(worker, now),
        "open": offers.open_work(worker, now),
    }
    return render(request, "worker_site/requester/groups.html", context)


@for_workers
def group(request: HttpRequest, worker: Worker, group_id: str) -> HttpResponse:
    now = clock.now()
    shown_group = _group(worker, group_id)
    hits = offers.next_few(worker, shown_group.hit_type, now, 1)
    if not hits:
        raise Http404("This HIT is no longer available.")
    [hit] = hits
    context = {"here": "requests", "group": shown_group, "hit": hit}
    if not shown_group.may_preview:
        return render(request, "worker_site/requester/group.html", context)
    question = read_question(hit.question)
    context["question"] = question
    if question.kind == "form":
        context["parts"] = form_parts(read_form(hit.question), lambda _: [])
    else:
        context["frame"] = frame_address(request, question, hit)
        context["sandbox"] = sandbox_of(request, question)
    return admit(render(request, "worker_site/requester/group.html", context), question)


@post_or("work:request", "group_id")
@for_workers
def accept(request: HttpRequest, worker: Worker, group_id: str) -> HttpResponse:
    first = request.POST.get("hit", "")
    hit_type = RequesterHITType.objects.filter(group_id=group_id).first()
    hits = offers.next_few(worker, hit_type, clock.now(), TRIES) if hit_type else []
    hits.sort(key=lambda hit: hit.entity_id != first)
    refusal = "There is no more of this work for you at the moment."
    for hit in hits:
        try:
            turn = turns.accept(hit, worker)
        except GenieError as error:
            refusal = error.message
            if error.code != "no-place-left":
                break
            continue
        return redirect("work:turn", turn.entity_id)
    messages.info(request, refusal)
    return redirect("work:requests")


def has_work(worker: Worker) -> bool:
    now = clock.now()
    live = RequesterHIT.objects.filter(disposed_at=None, expires_at__gt=now)
    theirs = not worker.limited_to and live.exists()
    return theirs or offers.open_work(worker, now).exists()


def _group(worker: Worker, group_id: str) -> offers.Group:
    group = offers.group(worker, group_id, clock.now())
    if group is None:
        raise Http404("There is no such work for you at the moment.")
    return group
