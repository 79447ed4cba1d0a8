"""Response headers that Django has no setting for."""

from collections.abc import Callable, Iterable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

# Allowed targets of our forms: browsers check redirects after a form against the
# policy.
_SIGN_IN = {
    "github": "https://github.com",
    "google": "https://accounts.google.com",
    "orcid": "https://orcid.org",
}


def policy(providers: Iterable[str] = ()) -> str:
    targets = " ".join(["'self'", *(_SIGN_IN[name] for name in providers)])
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; "
        f"form-action {targets}; base-uri 'none'; "
        "frame-src 'self'; frame-ancestors 'none'"
    )


POLICY = policy()


class ContentSecurityPolicyMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.policy = policy(settings.SIGN_IN_PROVIDERS)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", self.policy)
        return response
