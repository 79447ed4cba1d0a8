from genie.lib.errors import GenieError


class TurkError(GenieError):
    """An error response.

    `turk_code` is a documented code, with or without the prefix ``AWS.``; `kind` is the
    error's class for clients; the time is added to the message when it is sent.
    """

    def __init__(
        self,
        message: str,
        turk_code: str = "InvalidParameterValue",
        *,
        kind: str = "RequestError",
        status: int = 400,
    ) -> None:
        super().__init__(message, code="requester-api")
        self.turk_code = (
            turk_code
            if turk_code.startswith("AWS.")
            else f"AWS.MechanicalTurk.{turk_code}"
        )
        self.kind = kind
        self.status = status


def bad_value(name: str, value: object, advice: str = "") -> TurkError:
    shown = str(value)
    shown = shown if len(shown) <= 80 else shown[:80] + "…"
    return TurkError(
        f'The value "{shown}" is not valid for the parameter {name}.{advice}',
        kind="ParameterValidationError",
    )


def wrong_state(what: str, state: str, allowed: str) -> TurkError:
    return TurkError(
        f"This {what} is currently in the state '{state}'. "
        f"This operation can be called with a status of: {allowed}",
        f"Invalid{what.replace(' ', '')}State",
    )
