"""Commands about oneself: sign in, one's submissions, taking back, outputs."""

from __future__ import annotations

import getpass
import json
import sys
from typing import Any

from genie_client import stored, words
from genie_client.client import Client
from genie_client.problem import Problem
from genie_client.session import Session


def login(session: Session) -> None:
    """Check a token with the site, and keep both in a file of the user's own."""
    site = session.site
    token = session.options.token or _read_token(site)
    found = Client(site, token, timeout=session.options.timeout).whoami()
    file = stored.keep(site, token)
    session.say(
        {**found, "file": str(file)},
        lambda one: f"{words.person(one)}\nStored in {one['file']}.",
    )


def _read_token(site: str) -> str:
    if not sys.stdin.isatty():
        token = sys.stdin.readline().strip()
    else:
        sys.stderr.write(f"Create a token on {site.rstrip('/')}/account/tokens/.\n")
        token = getpass.getpass("Token: ").strip()
    if not token:
        raise Problem("No token was given.", code="no-token")
    return token


def logout(session: Session) -> None:
    """Remove what `login` has kept; the token itself works until it is revoked."""
    there = stored.forget()
    said = "The stored token was removed." if there else "No token was stored."
    session.say({"removed": there}, lambda one: said)


def whoami(session: Session) -> None:
    session.say(session.client.whoami(), words.person)


def mine(session: Session) -> None:
    task, state = session.options.task, session.options.state
    session.say(session.client.mine(task=task, state=state), words.mine)


def withdraw(session: Session) -> None:
    given = session.options
    made = session.client.withdraw(given.submission, reason=given.reason)
    session.say(made, words.submission)


def restore(session: Session) -> None:
    session.say(session.client.restore(session.options.submission), words.submission)


def outputs(session: Session) -> None:
    """Write outputs as JSON Lines, to a file or to standard output."""
    given = session.options
    of = session.client
    rows = (
        of.rated_outputs(given.submission)
        if given.worst
        else of.outputs(given.submission)
    )
    if session.options.json and given.out is None:
        session.say(list(rows), str)
        return
    if given.out is None:
        for row in rows:
            sys.stdout.write(_line(row))
        return
    # all of them first: a refusal must not empty the file that is there
    lines = [*map(_line, rows)]
    given.out.write_text("".join(lines), encoding="utf-8")
    session.say(
        {"file": str(given.out), "n": len(lines)},
        lambda one: f"{one['file']}: {one['n']:,}",
    )


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
