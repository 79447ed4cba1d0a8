"""Requesters' pages in a frame, and their submissions: without a session or a cookie.

Each address holds a token of one assignment. The frame shows a requester's page: it
runs in a separate origin and has no access to ours.
"""

import re
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

from django.core.signing import BadSignature, Signer, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from crowd.requester.models import RequesterAssignment, RequesterHIT
from crowd.requester.pages import origin
from crowd.requester.protocol import clock
from crowd.requester.questions.questions import Question, read_question
from crowd.requester.services import turns
from genie.lib.errors import GenieError

# Tokens in addresses, which replace cookies.
#
# A requester's page lives in a frame with a separate origin, or none, so it has no
# session here. Its address holds a token of one assignment. The public id of the
# assignment would not do, because requesters get it in notifications while the work is
# open.

# The address of a turn ends with the turn; that of a preview expires.
_LOOK_FOR = timedelta(hours=1)
NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"


def for_turn(assignment: RequesterAssignment) -> str:
    return _turns().sign(assignment.entity_id)


def for_preview(hit: RequesterHIT) -> str:
    return _previews().sign(hit.entity_id)


def turn_of(token: str) -> RequesterAssignment | None:
    rows = RequesterAssignment.objects.select_related(
        "hit__hit_type__requester", "worker__worker"
    )
    try:
        entity_id = _turns().unsign(token)
    except BadSignature:
        return None
    return rows.filter(entity_id=entity_id).first()


def previewed_hit(token: str) -> RequesterHIT | None:
    try:
        entity_id = _previews().unsign(token, max_age=_LOOK_FOR)
    except BadSignature:
        return None
    return RequesterHIT.objects.filter(entity_id=entity_id).first()


def _turns() -> Signer:
    return Signer(sep=".", salt="crowd.requester_api.turn")


def _previews() -> TimestampSigner:
    return TimestampSigner(sep=".", salt="crowd.requester_api.preview")


State = RequesterAssignment.State
# Their pages appear only in our frame, and are limited to a page and its form.
SANDBOX = "sandbox allow-scripts allow-forms allow-popups allow-modals"
SCRIPTS = ("worker/requester_page.js", "worker/requester_crowd_form.js")
_HEAD = re.compile(r"<head(\s[^>]*)?>", re.IGNORECASE)
_DOCTYPE = re.compile(r"\s*<!doctype[^>]*>", re.IGNORECASE)


def frame_address(
    request: HttpRequest,
    question: Question,
    hit: RequesterHIT,
    assignment: RequesterAssignment | None = None,
) -> str:
    if assignment is None:
        path = reverse("work:preview-frame", args=[for_preview(hit)])
    else:
        path = reverse("work:turn-frame", args=[for_turn(assignment)])
    known = {
        "assignmentId": NOT_AVAILABLE,
        "hitId": hit.entity_id,
        "turkSubmitTo": origin.address(request, path).rstrip("/"),
    }
    if assignment is not None:
        known["assignmentId"] = assignment.entity_id
        known["workerId"] = assignment.worker.customer_id
    if question.kind == "html":
        return f"{origin.address(request, path)}?{urlencode(known)}"
    address, hash_mark, fragment = question.content.partition("#")
    joint = "&" if "?" in address else "?"
    return f"{address}{joint}{urlencode(known)}{hash_mark}{fragment}"


def sandbox_of(request: HttpRequest, question: Question) -> str:
    """Return the frame's sandbox permissions.

    A page from another site keeps that site's origin, so that it can reach its own
    server. Pages from us, or pretending to be, have none.
    """
    allowed = SANDBOX.removeprefix("sandbox ")
    host = urlsplit(question.content).hostname if question.kind == "external" else None
    if host is None or host in origin.hosts(request):
        return allowed
    return f"{allowed} allow-same-origin allow-popups-to-escape-sandbox"


@origin.kept_apart
@never_cache
@xframe_options_exempt
@require_safe
def turn_frame(request: HttpRequest, token: str) -> HttpResponse:
    assignment = turn_of(token)
    if assignment is None or not is_open(assignment):
        return _say(request, "This HIT is over; continue below.", 410)
    return _page(request, assignment.hit, token)


@origin.kept_apart
@never_cache
@xframe_options_exempt
@require_safe
def preview_frame(request: HttpRequest, token: str) -> HttpResponse:
    hit = previewed_hit(token)
    if hit is None or hit.disposed_at is not None:
        return _say(request, "This page is no longer available. Reload it.", 410)
    return _page(request, hit, token)


@csrf_exempt  # The token in the address replaces a cookie's, see the module's docstring.
@origin.kept_apart
@never_cache
@xframe_options_exempt
@require_http_methods(["GET", "POST"])
def submit(request: HttpRequest, token: str) -> HttpResponse:
    assignment = turn_of(token)
    if assignment is None:  # Before the body is read, because it may be large.
        return _say(request, "There is no such work.", 404)
    sent = request.POST if request.method == "POST" else request.GET
    if request.method == "GET" and "assignmentId" not in sent:
        return _say(request, "No answers were submitted.", 400)  # only a preview
    # A page may have lost the id; its address belongs to one assignment all the same.
    named = sent.get("assignmentId") or assignment.entity_id
    if named != assignment.entity_id:
        return _say(request, "The page submitted this for a different assignment.", 400)
    fields = [(name, value) for name, values in sent.lists() for value in values]
    try:
        turns.submit(assignment, assignment.worker.worker, fields)
    except GenieError as error:
        return _say(request, error.message, 409)
    return _say(request, "Submitted. Thank you!", 200)


@csrf_exempt
@origin.kept_apart
@never_cache
@xframe_options_exempt
@require_http_methods(["GET", "POST"])
def submit_preview(request: HttpRequest, token: str) -> HttpResponse:
    """Refuse a submission before the HIT was accepted."""
    sentence = "This was a preview: accept the HIT first, then submit it."
    return _say(request, sentence, 409)


def _page(request: HttpRequest, hit: RequesterHIT, token: str) -> HttpResponse:
    question = read_question(hit.question)
    if question.kind != "html":
        return _say(request, "This HIT has no page here.", 404)
    response = HttpResponse(_with_our_script(question.content))
    site = f"{request.scheme}://{request.get_host()}"
    our_scripts = " ".join(
        request.build_absolute_uri(static(script)) for script in SCRIPTS
    )
    # Pages bring their own scripts, as on Mechanical Turk; the sandbox keeps them in a
    # separate origin.
    response["Content-Security-Policy"] = (
        "default-src https: data: blob: 'unsafe-inline' 'unsafe-eval'; "
        f"script-src https: data: blob: 'unsafe-inline' 'unsafe-eval' {our_scripts}; "
        f"form-action {site}{request.path}; object-src 'none'; base-uri 'none'; "
        f"frame-ancestors {origin.site(request)}; {SANDBOX}"
    )
    response["Referrer-Policy"] = "no-referrer"
    return response


def _with_our_script(page: str) -> str:
    """Make pages submit that rely on Mechanical Turk's own script, or on none."""
    scripts = "".join(f'<script src="{static(script)}"></script>' for script in SCRIPTS)
    match = _HEAD.search(page) or _DOCTYPE.match(page)
    at = match.end() if match else 0
    return f"{page[:at]}{scripts}{page[at:]}"


def _say(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    context = {"sentence": sentence, "stored": status == 200}
    page = "worker_site/requester/told.html"
    response = render(request, page, context, status=status)
    site = f"{request.scheme}://{request.get_host()}"
    response["Content-Security-Policy"] = (
        f"default-src 'none'; script-src {site}; style-src {site}; base-uri 'none'; "
        "form-action 'none'; sandbox allow-scripts"
    )
    response["Referrer-Policy"] = "no-referrer"
    return response


def is_open(assignment: RequesterAssignment) -> bool:
    return assignment.state == State.ACCEPTED and assignment.deadline_at > clock.now()
