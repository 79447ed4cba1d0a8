"""How often somebody may ask for what costs the site more than a page."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network

from rest_framework.request import Request
from rest_framework.throttling import UserRateThrottle


class CheckThrottle(UserRateThrottle):
    """Checks of files: by account, or by address for those who are not signed in."""

    scope = "check"
    rate = "30/hour"

    def get_ident(self, request: Request) -> str:
        """Count a whole /64 of IPv6 as one: a single connection has all of it."""
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
