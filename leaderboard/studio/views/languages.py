"""What workers read of a loaded task in another language."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from genie.accounts.staff import staff_may
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.studio.later_forms import LanguageForm
from leaderboard.studio.services import in_language
from leaderboard.submissions.selectors.visibility import Staff
from leaderboard.tasks.models import Task


@login_required
def language(request: HttpRequest, slug: str, language: str) -> HttpResponse:
    name = dict(settings.LANGUAGES).get(language)
    if name is None or not staff_may(request.user, Staff.SEE_REFERENCES, slug):
        raise Http404("There is no such page.")
    task = get_object_or_404(Task, slug=slug)
    form = LanguageForm(request.POST or None, in_language.asked(task, language))
    if form.is_valid():
        said = {
            key: text.replace("\r\n", "\n") for key, text in form.cleaned_data.items()
        }
        because = said.pop("because")
        by = cast("Account", request.user)
        try:
            in_language.change(task, language, said, by=by, because=because)
        except GenieError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Saved.")
            return redirect("leaderboard:studio-task", slug=slug)
    status = 400 if form.is_bound else 200
    context = {"here": "studio", "task": task, "form": form, "name": name}
    return render(request, "leaderboard/studio/language.html", context, status=status)
