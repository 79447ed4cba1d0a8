"""Requests to addresses from users: never into our own network."""

import http.client
import ipaddress
import socket
import ssl
from dataclasses import dataclass
from threading import Timer
from typing import Any
from urllib.parse import SplitResult, urlsplit

from genie.lib.errors import GenieError

TIMEOUT_SECONDS = 10
# A server that sends a byte now and then must not block a worker for ever.
TOTAL_SECONDS = 20
_MOST_READ = 2_000
_PORTS = {"http": 80, "https": 443}
# All that IANA has assigned to hosts of the open internet; not the rest of IPv6.
_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Ranges of IANA's special-purpose registries that `is_global` accepts, in this version
# of Python or another.
_SPECIAL = [
    ipaddress.ip_network(network)
    for network in (
        "192.0.0.0/24",  # IETF protocol assignments
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.175.48.0/24",  # AS112
        "2001::/23",  # IETF protocol assignments, Teredo among them
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
]


@dataclass(frozen=True)
class Answer:
    status: int
    text: str


class Refused(GenieError):
    """An address that we do not send to."""

    code = "bad-address"


def check_address(url: str, *, https_only: bool) -> SplitResult:
    """Split an address, or refuse it.

    Examples
    --------
    >>> check_address("https://heron.example/hook?team=1", https_only=True).hostname
    'heron.example'
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Refused(f"{url[:80]!r} is not a web address.") from None
    schemes = {"https"} if https_only else {"https", "http"}
    if parts.scheme not in schemes or not parts.hostname or port == 0:
        beginning = "https://" if https_only else "https:// or http://"
        raise Refused(f"{url[:80]!r} does not begin with {beginning}.")
    if parts.username is not None or parts.password is not None:
        raise Refused("An address must not contain a user name or password.")
    if len(url) > 500 or not url.isascii() or not url.isprintable() or " " in url:
        raise Refused(
            "An address can have at most 500 ASCII characters and no spaces; "
            "percent-encode other characters."
        )
    return parts


def check_reachable(url: str, *, https_only: bool) -> None:
    """Refuse an address that `post` would refuse, or whose host is unknown.

    Sends no request.
    """
    parts = check_address(url, https_only=https_only)
    host = str(parts.hostname)
    try:
        _address(host, parts.port or _PORTS[parts.scheme], allow_private=False)
    except OSError:
        raise Refused(f"The host {host} was not found.") from None


def address_of(url: str, *, https_only: bool, allow_private: bool) -> str:
    """Return the IP address that another library's client should connect to.

    Raises
    ------
    Refused
        We do not send to the address.
    OSError
        The host was not found.
    """
    parts = check_address(url, https_only=https_only)
    port = parts.port or _PORTS[parts.scheme]
    return _address(str(parts.hostname), port, allow_private=allow_private)


def post(
    url: str,
    body: bytes,
    headers: dict[str, str],
    *,
    https_only: bool,
    allow_private: bool,
) -> Answer:
    """Send a body to a public address and read the beginning of the response.

    Raises as `get` does.
    """
    parts = check_address(url, https_only=https_only)
    return _exchange("POST", parts, body, headers, allow_private=allow_private)


def get(
    url: str, *, https_only: bool, allow_private: bool, at_most: int = _MOST_READ
) -> Answer:
    """Open a public address and read the beginning of the response.

    The name is looked up once, and the connection goes to the checked address.
    Redirects are not followed.

    Raises
    ------
    Refused
        We do not send to the address.
    OSError, http.client.HTTPException
        It could not be reached, or did not answer like a web server.
    """
    parts = check_address(url, https_only=https_only)
    return _exchange(
        "GET", parts, None, {}, allow_private=allow_private, at_most=at_most
    )


def _exchange(
    method: str,
    parts: SplitResult,
    body: bytes | None,
    headers: dict[str, str],
    *,
    allow_private: bool,
    at_most: int = _MOST_READ,
) -> Answer:
    host = str(parts.hostname)
    port = parts.port or _PORTS[parts.scheme]
    address = _address(host, port, allow_private=allow_private)
    connection = _connection(parts.scheme, host, port, address)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.connect()
        watch = Timer(TOTAL_SECONDS, _cut, [connection.sock])
        watch.start()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read(at_most).decode("utf-8", "replace")
        finally:
            watch.cancel()
    finally:
        connection.close()
    return Answer(answer.status, text)


def _address(host: str, port: int, *, allow_private: bool) -> str:
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in entries]
    # One private address among public ones is enough to refuse, because names with both
    # are a known bypass.
    if not allow_private and not all(is_public(address) for address in addresses):
        raise Refused(f"{host} resolves to an address in a private network.")
    return addresses[0]


def is_public(address: str) -> bool:
    """Check whether an IP address is one of the open internet."""
    # In an IPv6 address, the interface follows the %.
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or _embedded_ipv4(ip)
        if inner is not None:
            return is_public(str(inner))
        if ip not in _UNICAST or _is_tunnel(ip):
            return False
    special = any(ip in network for network in _SPECIAL)
    return ip.is_global and not ip.is_multicast and not special


def _embedded_ipv4(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return None


def _is_tunnel(ip: ipaddress.IPv6Address) -> bool:
    """Check whether the last 64 bits are ISATAP's, with an IPv4 address at the end."""
    return (int(ip) >> 32) & 0xFFFFFFFF in {0x00005EFE, 0x02005EFE}


def _connection(
    scheme: str, host: str, port: int, address: str
) -> http.client.HTTPConnection:
    if scheme == "http":
        return _Pinned(host, port, address)
    return _PinnedTLS(host, port, address)


class _Pinned(http.client.HTTPConnection):
    """A connection to the checked address, whatever the name resolves to by now."""

    def __init__(self, host: str, port: int, address: str) -> None:
        super().__init__(host, port, timeout=TIMEOUT_SECONDS)
        self.address = address

    def connect(self) -> None:
        self.sock = socket.create_connection((self.address, self.port), TIMEOUT_SECONDS)


class _PinnedTLS(_Pinned):
    default_port = 443

    def connect(self) -> None:
        super().connect()
        context = ssl.create_default_context()
        # The certificate is checked against the name, though the connection went to an
        # address.
        self.sock = context.wrap_socket(self.sock, server_hostname=self.host)


def _cut(sock: Any) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:  # it ended a moment before
        return
