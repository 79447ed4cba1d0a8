from dataclasses import dataclass

from genie.lib.errors import GenieError

URLS = {
    "sandbox": "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    "production": "https://mturk-requester.us-east-1.amazonaws.com",
}


@dataclass(frozen=True)
class Account:
    environment: str
    endpoint_url: str = ""
    production_confirmed: bool = False
    region: str = "us-east-1"
    access_key_id: str = ""
    secret_access_key: str = ""
    queue_url: str = ""
    topic: str = ""
    queue_endpoint_url: str = ""
    threads: int = 10
    timeout_seconds: float = 60.0
    tries: int = 8
    calls_per_second: float = 200.0
    lifetime_seconds: int = 1_209_600
    index_lag_seconds: float = 60.0

    def url(self) -> str:
        """Return the one address that may be called, or refuse missing settings."""
        if self.environment == "endpoint":
            if not self.endpoint_url:
                raise _unset("GENIE_MTURK_ENDPOINT_URL is not set")
            return self.endpoint_url
        if self.environment not in URLS:
            raise _unset(
                "GENIE_MTURK_ENVIRONMENT must be endpoint, sandbox or production"
            )
        if self.environment == "production" and not self.production_confirmed:
            raise _unset("production needs GENIE_MTURK_PRODUCTION=yes as well")
        return URLS[self.environment]


def _unset(what: str) -> GenieError:
    return GenieError(
        f"Mechanical Turk is not configured: {what}.", code="platform-not-configured"
    )
