from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache

from genie.lib.errors import GenieError
from genie.lib.serving.post_only import post_or
from genie.lib.typing import Account
from leaderboard.teams.forms import WebhookForm
from leaderboard.teams.models.webhook import Webhook, WebhookDelivery
from leaderboard.teams.services import webhooks as service
from leaderboard.teams.views.teams import team_of

SHOWN = 50


@never_cache
@login_required
def webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    team = team_of(request, slug, owner=True)
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        by = cast("Account", request.user)
        try:
            webhook = service.add(team, form.cleaned_data["url"], by=by)
        except GenieError as error:
            form.add_error("url", error.message)
        else:
            # the next page shows the new webhook's secret, later ones hide it
            request.session["new-webhook"] = webhook.pk
            return redirect("leaderboard:webhooks", slug)
    deliveries = WebhookDelivery.objects.filter(webhook__team=team)
    context = {
        "here": "account",
        "team": team,
        "form": form,
        "webhooks": team.webhooks.order_by("pk"),
        "new": request.session.pop("new-webhook", None),
        "deliveries": deliveries.select_related("webhook").order_by("-pk")[:SHOWN],
    }
    status = 400 if form.errors else 200
    return render(request, "leaderboard/teams/webhooks.html", context, status=status)


@post_or("leaderboard:webhooks", "slug")
@login_required
def webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    team = team_of(request, slug, owner=True)
    hook = get_object_or_404(Webhook, pk=pk, team=team)
    action = request.POST.get("do", "")
    if action == "test":
        service.queue_test(hook)
        messages.success(
            request,
            gettext(
                "A test event is on its way; it will appear below within a minute."
            ),
        )
    elif action == "remove":
        hook.delete()
        messages.success(
            request, gettext("%(url)s will receive no more events.") % {"url": hook.url}
        )
    elif action in {"on", "off"}:
        Webhook.objects.filter(pk=hook.pk).update(active=action == "on")
    else:
        raise Http404
    return redirect("leaderboard:webhooks", slug)
