from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle, UserRateThrottle

# allauth's longest limit by address is a minute; that of a name is five
MINUTE, LOCKED_SECONDS = 60, 300


def too_many(response: HttpResponse, seconds: float | None) -> HttpResponse:
    response.status_code = 429
    response["Retry-After"] = str(max(1, round(seconds or 1)))
    return response


def page(request: HttpRequest) -> HttpResponse:
    return too_many(render(request, "429.html"), MINUTE)


class ByNetwork(SimpleRateThrottle):
    def get_ident(self, request: Request) -> str:
        """Count a whole /64 of IPv6 as one, because a single connection has all of it."""
        ident = super().get_ident(request)
        try:
            address = ip_address(ident)
        except ValueError:
            return ident
        if isinstance(address, IPv6Address) and address.ipv4_mapped:
            # how a server that listens to both kinds writes an IPv4 address
            return str(address.ipv4_mapped)
        if isinstance(address, IPv6Address):
            return str(ip_network((address, 64), strict=False))
        return ident


class CheckThrottle(ByNetwork, UserRateThrottle):
    scope = "check"
    rate = "30/hour"


class FileThrottle(ByNetwork, UserRateThrottle):
    scope = "file"
    rate: Any = None  # from the settings


def limit_files(
    view: Callable[..., HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        throttle: Any = FileThrottle()
        if throttle.allow_request(request, None):
            return view(request, *args, **kwargs)
        wait = max(1, round(throttle.wait() or 1))
        text = f"Too many downloads; try again in {wait} seconds.\n"
        return too_many(
            HttpResponse(text, content_type="text/plain; charset=utf-8"), wait
        )

    return wrapper


class WrongCodes(CheckThrottle):
    scope = "wrong-code"
    rate = "20/hour"

    def get_cache_key(self, request: Request, view: Any) -> str:
        """Count by address even signed-in users, because accounts are easily created."""
        return self.cache_format % {
            "scope": self.scope,
            "ident": self.get_ident(request),
        }

    def throttle_success(self) -> bool:
        return True

    def count(self) -> None:
        super().throttle_success()

    def one_more(self, request: Any) -> bool:
        """Count a failure; False if there were too many before it."""
        view: Any = None
        if not self.allow_request(request, view):
            return False
        if self.rate is not None:
            self.count()
        return True


class WrongTokens(WrongCodes):
    scope = "wrong-token"
    rate: Any = None  # from the settings


class WrongLinks(WrongCodes):
    scope = "wrong-link"
    rate: Any = None  # from the settings


class WrongCodesOfLink(WrongCodes):
    scope = "wrong-code-of-link"
    rate = "300/hour"

    def __init__(self, token: str) -> None:
        super().__init__()
        self.token = token

    def get_ident(self, request: Request) -> str:
        return sha256(self.token.encode()).hexdigest()
