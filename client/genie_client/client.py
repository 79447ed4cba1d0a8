"""What a program does with a Genie site."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from genie_client.comparing import metrics_of_both, name_criteria, scores_of_both
from genie_client.frames import frame
from genie_client.log import as_hashed, check_continues, check_entry
from genie_client.problem import Problem
from genie_client.progress import Told
from genie_client.transport import STREAM, Transport, multipart

Json = dict[str, Any]
# States in which a submission no longer waits for a program.
ENDED = frozenset({"PUBLISHED", "INVALID", "DECLINED", "STOPPED", "WITHDRAWN"})
# From here on a person has to decide.
MEASURED = frozenset({"MEASURED", *ENDED})
_FILES = {
    "sample": "sample.json",
    "csv": "board.csv",
    "json": "board.json",
    "latex": "board.tex",
    "bibtex": "board.bib",
}


class Client:
    """A Genie site, as the owner of a token sees it (without a token, the public site).

    Parameters
    ----------
    site : str
        Address of the site, such as https://genie.example.org.
    token : str, optional
        Made on the site; needed to hand in and to see one's own submissions.
    timeout : float, optional
        Seconds that one answer may take.
    retries : int, optional
        How often a request that cannot do harm twice is sent again, after a pause, when
        the site is busy or cannot be reached.
    """

    def __init__(
        self,
        site: str,
        token: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 3,
    ) -> None:
        self._http = Transport(site, token, timeout, retries)

    def whoami(self) -> Json:
        """Return the token's owner, scopes and teams."""
        return self._http.json("/api/v1/whoami/")

    def tasks(self) -> list[Json]:
        """List the benchmark tasks."""
        return list(self._pages("/api/v1/tasks/"))

    def instances(self, task: str) -> Iterator[Json]:
        """Return a task's inputs in the order of its release."""
        return self._pages(f"/api/v1/tasks/{quote(task)}/instances/")

    def validate(self, task: str, file: str | Path) -> Json:
        """Have a file checked without handing it in: `valid`, `problems`, `warnings`.

        Warnings of the pre-flight need a token that may hand in; without one they
        are None.
        """
        path = _readable(file)
        if self._http.has_token:
            try:
                return self._post_file_check(task, path)
            except Problem as problem:
                if problem.status not in {401, 403}:
                    raise
        body, content_type = multipart([], path)
        found = self._http.json(
            f"/tasks/{quote(task)}/check/", data=body, content_type=content_type
        )
        return {**found, "warnings": None}

    def _post_file_check(self, task: str, path: Path) -> Json:
        body, content_type = multipart([("task", task)], path)
        found = self._http.json(
            "/api/v1/submissions/validate/",
            data=body,
            content_type=content_type,
            again=True,
        )
        problems = found.pop("errors")
        return {"task": task, **found, "problems": problems}

    def submit(
        self,
        task: str,
        file: str | Path,
        *,
        system: str,
        description: str = "",
        links: Iterable[str] = (),
        team: str | None = None,
        private: bool = False,
        anonymous_until: str | None = None,
        entry: str = "",
        organization: str = "",
        weights: str = "",
        parameters: str = "",
        licence: str = "",
        key: str | None = None,
        sent: Told | None = None,
    ) -> Json:
        """Hand a system's predictions in; the answer has `id`, `url` and `state`.

        `key` goes along as Idempotency-Key: give the same one again after a broken
        connection, and a site that knows it makes one submission of the two. `sent`
        hears how many bytes of how many have been sent.
        """
        fields = [("task", task), ("system_name", system)]
        fields += [("description", description)] if description else []
        fields += [("links", link) for link in links]
        fields += [("team", team)] if team else []
        fields += [("visibility", "PRIVATE")] if private else []
        fields += [("anonymous_until", anonymous_until)] if anonymous_until else []
        about = {
            "entry": entry,
            "organization": organization,
            "weights": weights,
            "parameters": parameters,
            "licence": licence,
        }
        fields += [(name, said) for name, said in about.items() if said]
        body, content_type = multipart(fields, _readable(file))
        return self._http.json(
            "/api/v1/submissions/",
            data=body,
            content_type=content_type,
            headers={"Idempotency-Key": key or str(uuid.uuid4())},
            # under its key, the same request twice is one submission
            again=True,
            told=sent,
        )

    def mine(self, *, task: str | None = None, state: str | None = None) -> list[Json]:
        """List your teams' submissions, newest first."""
        wanted = {"task": task, "state": state}
        query = urlencode({name: one for name, one in wanted.items() if one})
        return list(self._pages(f"/api/v1/submissions/{'?' * bool(query)}{query}"))

    def withdraw(self, number: int, *, reason: str = "") -> Json:
        """Take a submission back; `restore` undoes it within a day."""
        return self._post_change(number, "withdraw", {"reason": reason})

    def restore(self, number: int) -> Json:
        """Bring a submission back that was withdrawn less than a day ago."""
        return self._post_change(number, "restore", {})

    def _post_change(self, number: int, verb: str, fields: Json) -> Json:
        return self._http.json(
            f"/api/v1/submissions/{int(number)}/{verb}/",
            data=json.dumps(fields).encode(),
            content_type="application/json",
        )

    def outputs(self, number: int) -> Iterator[Json]:
        """Return a submission's outputs: `id`, `position` and `text` of each instance."""
        return self._pages(f"/api/v1/submissions/{int(number)}/outputs/")

    def rated_outputs(self, number: int) -> list[Json]:
        """Return a published submission's rated outputs, the worst first.

        `ratings` are those that count on the criterion that ranks, on the task's scale;
        `rating` is their mean.
        """
        slug = self.submission(number)["task"]
        task = self._http.json(f"/api/v1/tasks/{quote(slug)}/")
        # the first criterion ranks
        main = next(iter(task["human"]["criteria"]))
        said: dict[str, list[float]] = {}
        for one in self._pages(f"/api/v1/submissions/{int(number)}/judgments/"):
            if one["counts"] and one["criterion"] == main:
                said.setdefault(one["instance"], []).append(one["value"])
        rated = [
            {**row, "rating": sum(said[row["id"]]) / len(said[row["id"]]),
             "ratings": said[row["id"]]}
            for row in self.outputs(number)
            if row["id"] in said
        ]  # fmt: skip
        return sorted(rated, key=lambda row: row["rating"])

    def submission(self, number: int) -> Json:
        """Return a submission's state, events, metrics and scores."""
        return self._http.json(f"/api/v1/submissions/{int(number)}/")

    def wait(
        self,
        number: int,
        *,
        until: frozenset[str] = MEASURED,
        every: float = 5.0,
        seconds: float = 3600.0,
        told: Callable[[Json], None] = lambda event: None,
        looked: Callable[[Json], None] = lambda found: None,
    ) -> Json:
        """Poll until the submission reaches a state; `told` is called with new events.

        `looked` is called with each response.

        Raises
        ------
        Problem
            "too-long" when the state is not reached in time.
        """
        end = time.monotonic() + seconds
        n_told = 0
        while True:
            found = self._patiently(number)
            for event in found["events"][n_told:]:
                told(event)
            n_told = len(found["events"])
            looked(found)
            failure = found.get("failure") or {}
            if found["state"] in until or failure.get("permanent"):
                return found
            if time.monotonic() >= end:
                raise Problem(
                    f"Submission {number} is still {found['state']} after {seconds:g} "
                    "seconds.",
                    code="too-long",
                    body=found,
                )
            time.sleep(every)

    def leaderboard(self, task: str, *, at: str | None = None) -> list[Json]:
        """Return a board's rows in order, now or at a date."""
        if at:
            query = urlencode({"at": at, "columns": "all"})
            raw = self._http.json(f"/tasks/{quote(task)}/board.json?{query}")
            return [_row(row, raw["ranked_by"]) for row in raw["rows"]]
        rows = self._pages(f"/api/v1/tasks/{quote(task)}/leaderboard/")
        return [_row(row, None) for row in rows]

    def leaderboard_frame(
        self, task: str, *, at: str | None = None, library: str = "pandas"
    ) -> Any:
        """Return a board as a pandas or polars data frame with metrics as columns."""
        return frame(self.leaderboard(task, at=at), library)

    def download(self, task: str, what: str, *, at: str | None = None) -> bytes:
        """Return a file: sample, csv, json, latex or bibtex."""
        if what not in _FILES:
            raise Problem(
                f"There is no {what!r} to download. Choose one of {', '.join(_FILES)}.",
                code="unknown-file",
            )
        query = f"?{urlencode({'at': at})}" if at else ""
        return self._http.bytes(f"/tasks/{quote(task)}/{_FILES[what]}{query}")

    def compare(self, first: int, second: int) -> Json:
        """Compare the scores and metrics of two submissions to one task."""
        a, b = self.submission(first), self.submission(second)
        if a["task"] != b["task"]:
            raise Problem(
                f"{first} is for {a['task']} and {second} for {b['task']}. Scores "
                "cannot be compared across tasks.",
                code="different-tasks",
            )
        return {
            "task": a["task"],
            "a": name_criteria(a),
            "b": name_criteria(b),
            "scores": scores_of_both(a, b),
            "pair": self._pair(a, b),
            "metrics": metrics_of_both(a, b),
            "all_pairs": f"{self._http.site}/tasks/{quote(a['task'])}/differences/",
        }

    def log_head(self, kept: Json | None = None) -> Json:
        """Return the newest head of the public log, checked against a stored one.

        Raises
        ------
        Problem
            "log-rewritten" when the log does not begin with the one of `kept`.
        """
        query = f"?since={int(kept['size'])}" if kept else ""
        try:
            head = self._http.json(f"/api/v1/history/{query}")
        except Problem as problem:
            if kept is None or problem.status != 404:
                raise
            # the site says that its log is shorter than it was
            head = {**self.log_head(), "consistency": None}
        if kept:
            check_continues(kept, head)
        return {name: head[name] for name in ("size", "root", "at")}

    def log_entry(self, number: int, head: Json | None = None) -> Json:
        """Return an entry of the public log, checked to be in it; `head` as published."""
        if head and not 0 <= number < int(head["size"]):
            raise Problem(
                f"The log has no entry {number}. It has {head['size']:,} entries, "
                "numbered from 0.",
                code="no-entry",
            )
        query = f"?size={int(head['size'])}" if head else ""
        entry = self._http.json(f"/api/v1/history/entries/{int(number)}/{query}")
        if entry["number"] != number:
            raise Problem(
                f"Asked for entry {number}, the site returned {entry['number']}.",
                code="entry-not-in-log",
                body={"entry": entry},
            )
        check_entry({**entry, "head": head or entry["head"]})
        return as_hashed(entry)

    def _pair(self, a: Json, b: Json) -> Json | None:
        """Return the board's comparison; None if one of the systems has no rank."""
        task = quote(a["task"])
        found = list(
            self._pages(f"/api/v1/tasks/{task}/differences/?a={a['id']}&b={b['id']}")
        )
        return found[0] if found else None

    def _pages(self, path: str) -> Iterator[Json]:
        address: str | None = path
        while address:
            page = self._http.json(address)
            yield from page["results"]
            address = page.get("next")

    def _patiently(self, number: int) -> Json:
        """Send one request; wait if the site asks to slow down."""
        for _ in range(5):
            try:
                return self.submission(number)
            except Problem as problem:
                if problem.status != 429 or problem.retry_after is None:
                    raise
                time.sleep(min(problem.retry_after, 60.0))
        return self.submission(number)


def _readable(file: str | Path) -> Path:
    path = Path(file)
    if path != STREAM and not path.is_file():
        raise Problem(f"There is no file {path}.", code="no-file")
    return path


def _row(row: Json, criterion: str | None) -> Json:
    human = row["scores"].get(criterion) if criterion else row["human"]
    team = row["team"]
    return {
        "rank_first": row["rank_first"],
        "rank_last": row["rank_last"],
        "submission": row["submission"],
        "system": row["system"],
        "team": team.get("name") if isinstance(team, dict) else team,
        "simulated": row["simulated"],
        "partial": _partial(row.get("partial")),
        "mean": human["mean"] if human else None,
        "low": human["low"] if human else None,
        "high": human["high"] if human else None,
        "provisional": bool(human and human.get("provisional")),
        "metrics": row["metrics"],
    }


def _partial(told: Json | str | None) -> str | None:
    """Describe a partial score; the API has more details than the exports."""
    return told["said"] if isinstance(told, dict) else told
