from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from crowd.elsewhere.pages.access import for_workers
from crowd.messages import services as service
from crowd.workers.models.worker import Worker
from genie.lib.serving.pages import page_of

PAGE = 50


@for_workers
def messages(request: HttpRequest, worker: Worker) -> HttpResponse:
    rows = worker.messages.select_related("requester", "requester_assignment")
    rows = rows.order_by("-created_at", "-pk")
    page = page_of(rows, PAGE, request.GET.get("page"))
    # Read from the database before they are marked, because the page shows which are
    # new.
    page.object_list = list(page.object_list)
    service.mark_read(worker, [row.pk for row in page if row.read_at is None])
    context = {"here": "messages", "page": page}
    return render(request, "worker_site/messages.html", context)
