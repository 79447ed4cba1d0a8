"""Open sign-up, where staff have switched it on: apply, wait, read the decision."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from crowd.workers.hit_form import ApplicationForm, ApplyingAccountForm
from crowd.workers.models.worker import Application, Worker
from crowd.workers.services import applications
from genie.accounts.throttles import Applications, too_many


@never_cache
@sensitive_post_parameters("password1", "password2")
def join(request: HttpRequest) -> HttpResponse:
    """Take an application; who has applied sees where it stands."""
    if not settings.GENIE["WORKERS_APPLY"]:
        raise Http404("Work here is by invitation.")
    user = request.user if isinstance(request.user, AbstractBaseUser) else None
    if user is not None:
        if Worker.objects.filter(user_id=user.pk).exists():
            return redirect("work:home")
        application = Application.objects.filter(user_id=user.pk).first()
        if application is not None:
            context = {"application": application}
            return render(request, "worker_site/join.html", context)
    kind = ApplyingAccountForm if user is None else ApplicationForm
    form = kind(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        limit = Applications()
        if not limit.one_more(request):
            return too_many(render(request, "429.html"), limit.wait())
        with transaction.atomic():
            applicant = user or form.save()  # type: ignore[attr-defined]
            said = form.cleaned_data
            applications.apply(applicant, said["words"], said["mail"])
        if user is None:
            login(request, applicant)
        return redirect("work:join")
    status = 422 if form.errors else 200
    return render(request, "worker_site/join.html", {"form": form}, status=status)
