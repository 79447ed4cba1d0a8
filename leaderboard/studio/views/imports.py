"""Import ratings: upload files, check and correct them, confirm."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from genie.lib.errors import GenieError
from genie.lib.serving.pages import status_of
from leaderboard.imports.readers.mapping import to_toml
from leaderboard.studio.import_forms import AboutForm, BringForm, ChoicesForm
from leaderboard.studio.models import Draft
from leaderboard.studio.services import bring, keep
from leaderboard.studio.views.access import for_makers, own_draft
from leaderboard.studio.views.begin import begun
from leaderboard.submissions.views import refuse_oversize

_FRAME = {"here": "studio"}


@csrf_exempt  # only until the view has refused an oversize body without reading it
def new_import(request: HttpRequest) -> HttpResponse:
    return refuse_oversize(request) or _new(request)


@csrf_protect
@for_makers
def _new(request: HttpRequest) -> HttpResponse:
    form = BringForm(request.POST if request.method == "POST" else None)
    draft, trouble = begun(request, form, bring.begin)
    if draft is not None:
        return redirect("leaderboard:studio-import", pk=draft.pk)
    return render(
        request,
        "leaderboard/studio/import_new.html",
        {
            **_FRAME,
            "form": form,
            "trouble": trouble,
            "drafts": [
                (draft, bring.state_of(draft)["phase"])
                for draft in Draft.objects.filter(owner=request.user.pk)
                if bring.is_import(draft)
            ],
            "kept_days": keep.KEPT_DAYS,
            "most_megabytes": settings.GENIE["MAX_UPLOAD_BYTES"] >> 20,
        },
        status=status_of(trouble, form.errors),
    )


@csrf_exempt  # as above
def import_draft(request: HttpRequest, pk: int) -> HttpResponse:
    return refuse_oversize(request) or _draft(request, pk)


@csrf_protect
@for_makers
def _draft(request: HttpRequest, pk: int) -> HttpResponse:
    draft = own_draft(request, pk)
    if not bring.is_import(draft):
        raise Http404("There is no such page.")
    if request.method != "POST":
        return (
            _mapping_file(draft) if "mapping" in request.GET else _page(request, draft)
        )
    found = bring.state_of(draft)
    choices = ChoicesForm(request.POST, found["seen"], found)
    about = AboutForm(request.POST, found["seen"], found["about"], draft.title)
    # a form without the menus answers none of them
    changed = "layout" in request.POST and choices.has_changed()
    try:
        if "add" in request.POST:
            keep.add(draft, request.FILES.getlist("files"))
            bring.say(draft)
        elif (row := request.POST.get("drop", "")).isdecimal():
            keep.drop_file(draft, int(row))
            bring.say(draft)
        elif "use" in request.POST:
            for file in request.FILES.getlist("mapping")[:1]:
                bring.use_mapping(draft, file)
        elif "again" in request.POST or ("import" in request.POST and changed):
            if not choices.is_valid():
                return _page(request, draft, choices=choices, about=about)
            # the fields below the choices keep their content
            about.is_valid()
            bring.say(draft, **choices.said, about=about.said)
            if "import" in request.POST:
                messages.info(
                    request,
                    "Read again with these choices. Check the board, then import.",
                )
        elif "import" in request.POST:
            if not about.is_valid():
                return _page(request, draft, about=about)
            bring.start(draft, title=about.cleaned_data["title"], about=about.said)
    except GenieError as error:
        messages.error(request, error.message)
    return redirect("leaderboard:studio-import", pk=pk)


def _mapping_file(draft: Draft) -> HttpResponse:
    """Send the roles and answers as a file; consent to losses is not for other files."""
    used = bring.state_of(draft)["seen"].get("mapping", {})
    text = to_toml({name: value for name, value in used.items() if name != "lost"})
    name = f'attachment; filename="{draft.slug}.toml"'
    kind = "application/toml; charset=utf-8"
    return HttpResponse(text, kind, headers={"Content-Disposition": name})


def _page(
    request: HttpRequest,
    draft: Draft,
    *,
    choices: ChoicesForm | None = None,
    about: AboutForm | None = None,
) -> HttpResponse:
    found = bring.state_of(draft)
    seen: dict[str, Any] = found["seen"]
    return render(
        request,
        "leaderboard/studio/import.html",
        {
            **_FRAME,
            "draft": draft,
            "found": found,
            "seen": seen,
            "under_way": found["phase"] in bring.UNDER_WAY,
            "progress": bring.progress_of(draft),
            "files": draft.files.all(),
            "choices_form": choices or ChoicesForm(None, seen, found),
            "about_form": about or AboutForm(None, seen, found["about"], draft.title),
            "n_more": seen.get("n_problems", 0) - len(seen.get("problems", [])),
            "most_megabytes": settings.GENIE["MAX_UPLOAD_BYTES"] >> 20,
        },
        status=status_of(choices, about),
    )
