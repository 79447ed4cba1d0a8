import secrets

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from crowd.elsewhere.services.hit_page import Pages, hit_of, page_of
from crowd.hits.services.platforms import can
from crowd.workers.hit_form import sent_to, shown_item

PAGES = Pages(shown_item, sent_to)
# Other sites show it and get the form; it loads no content, not even from us.
POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
    "form-action https: http:; base-uri 'none'; frame-ancestors https: http:"
)


@require_safe
@never_cache
@xframe_options_exempt
def page(request: HttpRequest, token: str) -> HttpResponse:
    hit = hit_of(token)
    if hit is None or not can(hit.campaign.platform).answers_there:
        raise Http404(_("There is no such work."))
    nonce = secrets.token_urlsafe(16)
    wanted = request.GET.get("lang") or get_language()
    shown = page_of(hit.campaign.hit_type, hit, PAGES, nonce, wanted)
    response = HttpResponse(shown)
    response["Content-Security-Policy"] = POLICY.format(nonce=nonce)
    return response
