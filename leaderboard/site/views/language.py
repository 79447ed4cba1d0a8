"""The menu of languages: stored in a cookie, and with the account for e-mails."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.i18n import set_language

from crowd.workers.services import profiles
from leaderboard.teams.services import notices


# Without a token, so that pages with the menu set no cookie. A cross-site request can
# change the cookie at most: browsers do not send it the session's.
@csrf_exempt
def choose(request: HttpRequest) -> HttpResponse:
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        notices.choose_language(request.user, language)
        profiles.choose_language(request.user.pk, language)
    return set_language(request)
