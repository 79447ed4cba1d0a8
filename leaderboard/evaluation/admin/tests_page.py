"""A dry run of a submission's test questions; staff confirm outputs as good here."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from genie.lib.errors import GenieError
from leaderboard.evaluation.models.confirmed_output import ConfirmedOutput
from leaderboard.evaluation.services.hidden.preview import previews
from leaderboard.submissions.models.submission import Prediction, Submission

if TYPE_CHECKING:
    from genie.lib.typing import Account

N_SHOWN = 50
CONFIRM, TAKE_BACK = "confirm", "take-back"


def tests_page(
    model_admin: Any, request: HttpRequest, submission: Submission
) -> HttpResponse:
    if request.method == "POST":
        _decide(model_admin, request, submission)
        return redirect(request.path)
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "media": model_admin.media,
        "title": f"Test questions for {submission.system_name}",
        "submission": submission,
        "outputs": _outputs(submission),
    }
    try:
        context["parts"] = list(previews(submission.task, submission))
    except GenieError as error:
        context["trouble"] = error.message
    return TemplateResponse(request, "admin/leaderboard/submission/tests.html", context)


def _outputs(submission: Submission) -> list[dict[str, Any]]:
    rows = (
        Prediction.objects.filter(
            submission=submission,
            instance__sample_rank__lt=submission.task.sample_size,
        )
        .select_related("instance", "confirmed__confirmed_by")
        .order_by("instance__sample_rank")[:N_SHOWN]
    )
    return [
        {
            "pk": row.pk,
            "fields": submission.task.shown(row.instance.fields),
            "text": submission.task.output(row.text),
            "confirmed": getattr(row, "confirmed", None),
        }
        for row in rows
    ]


def _decide(model_admin: Any, request: HttpRequest, submission: Submission) -> None:
    by = cast("Account", request.user)
    rows = Prediction.objects.filter(submission=submission)
    if (pk := request.POST.get(CONFIRM, "")).isdecimal():
        row = rows.get(pk=int(pk))
        ConfirmedOutput.objects.get_or_create(
            prediction=row, defaults={"confirmed_by_id": by.pk}
        )
        said = "Confirmed as good"
    elif (pk := request.POST.get(TAKE_BACK, "")).isdecimal():
        row = rows.get(pk=int(pk))
        ConfirmedOutput.objects.filter(prediction=row).delete()
        said = "No longer confirmed as good"
    else:
        return
    sentence = f"{said}: the output for {row.instance.instance_id}."
    model_admin.log_change(request, submission, sentence)
    model_admin.message_user(request, sentence, messages.SUCCESS)
