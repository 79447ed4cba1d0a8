"""The operator's endpoints, and one request to one of them.

Addresses and keys come from the operator's environment only. The author of a judge
names an endpoint, and can neither send a key elsewhere nor reach the internal network.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import local
from typing import Any

from genie.lib import env, outbound
from genie.lib.errors import GenieError
from leaderboard.judges.answers import storable
from leaderboard.judges.definition import SCRIPTED

_LONGEST_WAIT = 60.0
_UNREACHABLE_WAIT = 2.0
_MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class Endpoint:
    """An address that speaks OpenAI's protocol; `key_file` is read at each use."""

    name: str
    url: str
    key_file: str
    private: bool


@dataclass(frozen=True)
class Reply:
    text: str
    refusal: str
    model: str
    fingerprint: str
    # None: not reported by the endpoint
    input_tokens: int | None
    output_tokens: int | None
    seconds: float


class TurnedAway(Exception):
    """The endpoint rejected the request, so that it costs nothing."""

    def __init__(
        self, sentence: str, *, again_in: float | None = None, fatal: bool = False
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        # None: a retry would have the same result
        self.again_in = again_in
        # all other requests would fail, too
        self.fatal = fatal


class Lost(Exception):
    """It is unknown whether the request was answered: it may have cost something."""


def endpoints() -> dict[str, Endpoint]:
    """Read the operator's endpoints from `GENIE_JUDGES` and each one's own variables."""
    return {name: _endpoint(name) for name in env.words("GENIE_JUDGES")}


def endpoint_named(name: str) -> Endpoint:
    """Return the endpoint, or raise an error that lists the names."""
    if (found := endpoints().get(name)) is None:
        known = ", ".join([SCRIPTED, *endpoints()])
        raise GenieError(
            f"There is no endpoint {name!r} here. Choose from: {known}. The site's "
            "operator can add more with GENIE_JUDGES.",
            code="unknown-endpoint",
        )
    return found


def _endpoint(name: str) -> Endpoint:
    prefix = f"GENIE_JUDGE_{name.upper().replace('-', '_')}"
    if not (url := os.environ.get(f"{prefix}_URL", "")):
        raise env.ConfigurationError(f"{prefix}_URL must have the address of {name}.")
    return Endpoint(
        name=name,
        url=url,
        key_file=os.environ.get(f"{prefix}_KEY_FILE", ""),
        private=env.flag(f"{prefix}_PRIVATE"),
    )


class Asker:
    """A client of one endpoint; thread-safe."""

    def __init__(self, endpoint: Endpoint, *, timeout: float, at_once: int) -> None:
        try:
            import httpx2
            import openai
        except ImportError:
            raise GenieError(
                "Judges at endpoints need the extra [judges]: "
                'pip install "genie-leaderboards[judges]".',
                code="judges-not-installed",
            ) from None
        key = "none"
        if endpoint.key_file:
            try:
                key = Path(endpoint.key_file).read_text(encoding="utf-8").strip()
            except (OSError, ValueError):
                raise GenieError(
                    f"The file with the key of {endpoint.name} cannot be read.",
                    code="judge-key-missing",
                ) from None
        limits = httpx2.Limits(max_connections=at_once)
        self.client = openai.OpenAI(
            api_key=key,
            base_url=endpoint.url,
            timeout=timeout,
            # retried by our own code: each attempt is written into the ledger first
            max_retries=0,
            http_client=httpx2.Client(
                transport=_checked_transport(endpoint, limits, timeout),
                timeout=timeout,
                trust_env=False,
            ),
        )

    def ask(self, body: Mapping[str, Any], request_sha256: str) -> Reply:
        """Send one request.

        Raises TurnedAway if it was rejected and costs nothing, and Lost if no answer
        came and it may cost something.
        """
        start = time.monotonic()
        with _in_our_words():
            answer = self.client.chat.completions.create(
                **body, extra_headers={"Idempotency-Key": request_sha256}
            )
        return reply_of(answer, time.monotonic() - start)

    def close(self) -> None:
        self.client.close()


def reply_of(answer: Any, seconds: float) -> Reply:
    """Read an endpoint's response; every part of it may be missing."""
    choices = getattr(answer, "choices", None) or []
    said = getattr(choices[0], "message", None) if choices else None
    refusal = getattr(said, "refusal", None) or ""
    if choices and getattr(choices[0], "finish_reason", "") == "content_filter":
        refusal = refusal or "content filter"
    used = getattr(answer, "usage", None)
    return Reply(
        text=storable(str(getattr(said, "content", None) or "")),
        refusal=_line(refusal)[:500],
        model=_line(getattr(answer, "model", None))[:200],
        fingerprint=_line(getattr(answer, "system_fingerprint", None))[:200],
        input_tokens=_count(getattr(used, "prompt_tokens", None)),
        output_tokens=_count(getattr(used, "completion_tokens", None)),
        seconds=seconds,
    )


def _line(said: Any) -> str:
    words = " ".join(storable(str(said or "")).split())
    return "".join(sign for sign in words if sign.isprintable())


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 2**31 else None


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Replace the endpoint's own error messages, which may contain a key."""
    import httpx2
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        status = error.status_code
        if status >= 500:
            raise Lost(f"The endpoint failed ({status}).") from None
        wait = _wait(error.response.headers) if status in {408, 409, 429} else None
        raise TurnedAway(
            f"The endpoint refused the request ({status}).",
            again_in=wait,
            fatal=status in {401, 403, 404},
        ) from None
    except openai.APIConnectionError as error:
        why = error.__cause__
        # our own error, raised below the client, which wraps it
        if isinstance(why, outbound.Refused):
            raise TurnedAway(why.message, fatal=True) from None
        # the request was not sent
        if isinstance(why, httpx2.ConnectError | httpx2.ConnectTimeout | OSError):
            raise TurnedAway(
                "The endpoint cannot be reached.", again_in=_UNREACHABLE_WAIT
            ) from None
        raise Lost(f"No answer came ({type(error).__name__}).") from None
    except (openai.OpenAIError, ValueError) as error:
        raise Lost(f"The answer is unreadable ({type(error).__name__}).") from None


def _wait(headers: Mapping[str, str]) -> float:
    try:
        asked = float(headers.get("retry-after", "1"))
    except ValueError:
        asked = 1.0
    return min(_LONGEST_WAIT, max(0.0, asked))


def _checked_transport(endpoint: Endpoint, limits: Any, timeout: float) -> Any:
    """Connect to the checked address, even if the name resolves differently later.

    The client's own limit is per read; here, a whole response has one deadline, from its
    first header on, and a size.
    """
    import httpcore2
    import httpx2

    asked = local()

    class Stream:
        def __init__(self, stream: Any) -> None:
            self.stream = stream

        def __getattr__(self, name: str) -> Any:
            return getattr(self.stream, name)

        def start_tls(self, *words: Any, **named: Any) -> Any:
            return Stream(self.stream.start_tls(*words, **named))

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            left = max(0.001, asked.until - time.monotonic())
            part: bytes = self.stream.read(max_bytes, left)
            asked.n_bytes += len(part)
            if asked.n_bytes > _MOST_BYTES:
                raise httpcore2.ReadError("The answer is too long.")
            return part

    class Backend(httpcore2.SyncBackend):
        def connect_tcp(self, *words: Any, **named: Any) -> Any:
            return Stream(super().connect_tcp(*words, **named))

    class Checked(httpx2.HTTPTransport):  # type: ignore[misc]
        def handle_request(self, request: Any) -> Any:
            url = request.url
            asked.until, asked.n_bytes = time.monotonic() + timeout, 0
            address = outbound.address_of(
                str(url),
                https_only=not endpoint.private,
                allow_private=endpoint.private,
            )
            # the certificate is checked against the name, as is the Host header
            request.extensions = {**request.extensions, "sni_hostname": url.host}
            request.url = url.copy_with(host=address)
            # unpacked, a small body could fill the memory
            request.headers["Accept-Encoding"] = "identity"
            answer = super().handle_request(request)
            if answer.headers.get("Content-Encoding", "identity") != "identity":
                answer.close()
                raise httpx2.ReadError("The answer is compressed.")
            return answer

    transport = Checked(trust_env=False, limits=limits)
    transport._pool._network_backend = Backend()
    return transport
