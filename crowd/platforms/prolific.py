"""Prolific: one study with many places per campaign; our server hands out the items.

There are no tokens, so each call is made idempotent: a study is found again by our key
in its internal name, its places are set to a total, an earlier decision is looked up.
Only a bonus cannot be repeated: it is sent once, and if the answer is lost, staff
check.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import Any
from urllib.parse import urlencode

from crowd.platforms.base import (
    BonusSpec,
    CampaignSpec,
    Capabilities,
    Completion,
    DecisionSpec,
    ExternalRef,
    Identity,
    MoreSpec,
    Outcome,
    Platform,
    Requirements,
    Result,
    SessionEvent,
    StudyTerms,
)
from crowd.platforms.prolific_protocol import filters, terms
from crowd.platforms.prolific_protocol.calls import (
    Account,
    Calls,
    ProlificBusy,
    ProlificRefusal,
    ProlificSilence,
    result_of,
    unreachable,
    unset,
)
from crowd.pricing import Quote, quote_from_total
from genie.lib.errors import GenieError

# Bonuses on Prolific: set up without payment, then paid by a single call.
LOOK = (
    "This bonus may or may not have been paid. Trying again could pay it twice. "
    "Check the submission on Prolific."
)


def pay_bonus(calls: Calls, spec: BonusSpec) -> Result:
    if spec.sent != "never":
        return Result(spec.key, "unknown", message=LOOK)
    bonus_list = _set_up(calls, spec)
    return _pay(calls, spec, bonus_list) if bonus_list.state == "done" else bonus_list


def _set_up(calls: Calls, spec: BonusSpec) -> Result:
    def act() -> Result:
        row = calls("GET", f"submissions/{spec.session_id}/")
        line = terms.bonus_line(spec.session_id, spec.amount_cents)
        bonus_list = calls(
            "POST",
            "submissions/bonus-payments/",
            json={"study_id": row["study_id"], "csv_bonuses": line},
        )
        return Result(spec.key, "done", str(bonus_list["id"]))

    result = result_of(spec.key, act)
    # No money was paid yet, whatever the outcome of the call.
    return (
        Result(spec.key, "again", message=result.message)
        if result.state == "unknown"
        else result
    )


def _pay(calls: Calls, spec: BonusSpec, bonus_list: Result) -> Result:
    path = f"bulk-bonus-payments/{bonus_list.platform_id}/pay/"

    def act() -> Result:
        calls.without_retry("POST", path)
        return Result(spec.key, "done", bonus_list.platform_id)

    result = result_of(spec.key, act)
    if result.state != "unknown":
        return result
    return Result(
        spec.key, "unknown", bonus_list.platform_id, f"{LOOK} {result.message}"
    )


PATH = "participant-groups/"


class Groups:
    """The groups that our studies exclude; Prolific updates running studies."""

    def __init__(self, calls: Calls, workspace_id: str) -> None:
        self._calls = calls
        self._workspace = workspace_id
        self._known: dict[str, str] = {}

    def find_or_create(self, pool: str) -> str:
        if not self._workspace:
            return ""
        if pool not in self._known:
            name = f"Not for this work: {pool}"
            self._known[pool] = self._find_by_name(name) or self._create(name)
        return self._known[pool]

    def change(self, method: str, key: str, worker_id: str, pool: str) -> Result:
        """Add a worker to the pool's group by ``POST``, or remove them by ``DELETE``."""
        group = self.find_or_create(pool)
        if not group:
            # Our own pages exclude the worker in any case.
            return Result(key, "done")
        path = f"{PATH}{group}/participants/"
        self._calls(method, path, json={"participant_ids": [worker_id]})
        return Result(key, "done", group)

    def _find_by_name(self, name: str) -> str:
        rows = self._calls.pages(PATH, workspace_id=self._workspace)
        return next((str(row["id"]) for row in rows if row.get("name") == name), "")

    def _create(self, name: str) -> str:
        body = {"name": name, "workspace_id": self._workspace}
        # Once: of two groups with one name, a study would exclude only one.
        return str(self._calls.without_retry("POST", PATH, json=body)["id"])


LOOK_SECONDS = 5.0
RESEARCHER_URL = "https://app.prolific.com/researcher/workspaces/studies/"
FAILURES = (ProlificRefusal, ProlificBusy, ProlificSilence)
# A study's state, and the action that opens it.
TO_OPEN = {"UNPUBLISHED": "PUBLISH", "PAUSED": "START"}
OPEN = {"ACTIVE", "PUBLISHING", "SCHEDULED"}
TOO_SHORT = (
    f"Prolific requires a reason of at least {terms.REJECT_CHARACTERS} characters for "
    "a rejection."
)


class Prolific(Platform):
    slug = "prolific"
    title = "Prolific"
    capabilities = Capabilities(
        external=True,
        pays=True,
        native_exclusion=True,
        attests=frozenset({"APPROVED", "APPROVED_PERCENT", "COUNTRY", "LANGUAGE"}),
        reject_minimum_characters=terms.REJECT_CHARACTERS,
    )

    def __init__(
        self, account: Account, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        account.base_url()
        self.account = account
        self.environment = account.environment
        self._sleep = sleep

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Prolific:
        return cls(Account(**options))

    @cached_property
    def calls(self) -> Calls:
        return Calls(self.account, self._sleep)

    @cached_property
    def _groups(self) -> Groups:
        return Groups(self.calls, self.account.workspace_id)

    # --- the offer ---------------------------------------------------------------------

    @classmethod
    def check_study(cls, requirements: Requirements, study: StudyTerms) -> None:
        filters.check(requirements, study)

    def check_filters(self, requirements: Requirements, study: StudyTerms) -> None:
        try:
            self._filters(requirements, study)
        except FAILURES as error:
            raise unreachable(error) from error

    def _filters(
        self, requirements: Requirements, study: StudyTerms
    ) -> filters.Filters:
        query = {"workspace_id": self.account.workspace_id}
        looked_up = filters.needs_catalogue(requirements, study)
        rows = self.calls.pages("filters/", **query) if looked_up else ()
        catalogue = {str(row.get("filter_id")): row for row in rows}
        return filters.filters_of(requirements, study, catalogue)

    def publish(self, campaign: CampaignSpec) -> Result:
        """Create the study, or find it by our key, and open it.

        An unopened study costs nothing. So one whose creation was not confirmed does no
        harm, and is the one that is opened.
        """

        def act() -> Result:
            other = self._other_currency(campaign.key, campaign.currency)
            if other is not None:
                return other
            study = self._find_by_name(campaign.key) or self._draft(campaign)
            name, status = str(study["id"]), str(study.get("status", "UNPUBLISHED"))
            if campaign.simulated and status == "UNPUBLISHED":
                # A copy of the draft, for accounts made to try studies.
                path = f"studies/{name}/test-study"
                name = str(self.calls.without_retry("POST", path)["study_id"])
            elif not campaign.simulated:
                self._open(name, status)
            return Result(campaign.key, "done", name)

        return result_of(campaign.key, act)

    def _draft(self, campaign: CampaignSpec) -> Any:
        ours = self._groups.find_or_create(campaign.pool) if campaign.pool else ""
        shut_out = [ours, *campaign.study.without_groups]
        body = terms.study(
            campaign,
            code_secret=self.account.code_secret,
            hourly_cents=self.account.hourly_cents,
            filters=self._filters(campaign.requirements, campaign.study)
            + filters.groups(filters.BLOCKED, shut_out),
            project=self.account.project_id,
        )
        return self.calls.without_retry("POST", "studies/", json=body)

    def find(self, key: str) -> str:
        try:
            return str((self._find_by_name(key) or {}).get("id", ""))
        except FAILURES as error:
            raise unreachable(error) from error

    def _find_by_name(self, key: str) -> dict[str, Any] | None:
        rows = self.calls.pages("studies/")
        return next((row for row in rows if row.get("internal_name") == key), None)

    def _open(self, study: str, status: str) -> None:
        if action := TO_OPEN.get(status):
            self._move(study, action)

    def _move(self, study: str, action: str) -> None:
        try:
            self.calls("POST", f"studies/{study}/transition/", json={"action": action})
        except ProlificRefusal:
            status = self._study(study)["status"]
            reached = status == "PAUSED" if action == "PAUSE" else status in OPEN
            if not reached:
                raise

    def _study(self, study: str) -> Any:
        return self.calls("GET", f"studies/{study}/")

    def add_capacity(
        self, ref: ExternalRef, more: Sequence[MoreSpec]
    ) -> Iterator[Result]:
        """Raise the study's places to the total in our books.

        Prolific takes the new total, so the same request again changes nothing;
        `before` counts the places of the whole study. The number of places can never
        decrease.
        """
        for spec in more:
            yield result_of(spec.key, partial(self._raise, ref, spec))

    def _raise(self, ref: ExternalRef, spec: MoreSpec) -> Result:
        path = f"studies/{ref.campaign_id}/"
        total = spec.before + spec.n
        if int(self.calls("GET", path).get("total_available_places", 0)) < total:
            self.calls("PATCH", path, json={"total_available_places": total})
        return Result(spec.key, "done", ref.campaign_id)

    def close(self, ref: ExternalRef) -> Result:
        def act() -> Result:
            if self._study(ref.campaign_id)["status"] in OPEN:
                self._move(ref.campaign_id, "PAUSE")
            return Result(ref.campaign_id, "done")

        return result_of(ref.campaign_id, act)

    def resume(self, ref: ExternalRef) -> Result:
        def act() -> Result:
            status = str(self._study(ref.campaign_id)["status"])
            if status == "COMPLETED":
                message = "The study has ended on Prolific and cannot be reopened."
                return Result(ref.campaign_id, "refused", message=message)
            self._open(ref.campaign_id, status)
            return Result(ref.campaign_id, "done")

        return result_of(ref.campaign_id, act)

    def page_of(self, ref: ExternalRef) -> str:
        return f"{RESEARCHER_URL}{ref.campaign_id}"

    # --- people ------------------------------------------------------------------------

    def identity(self, parameters: Mapping[str, str]) -> Identity:
        return Identity(
            worker_id=terms.checked_id(parameters, "PROLIFIC_PID"),
            session_id=terms.checked_id(parameters, "SESSION_ID"),
            study_id=terms.checked_id(parameters, "STUDY_ID"),
        )

    def vouches_for(self, who: Identity) -> bool | None:
        """Ask once, with a short timeout, because a person waits for the page."""
        path = f"submissions/{who.session_id}/"
        try:
            row = self.calls.without_retry("GET", path, timeout=LOOK_SECONDS)
        except ProlificRefusal as error:
            # Without a body, only the id can be wrong.
            return False if error.status in {400, 404} else None
        except (ProlificBusy, ProlificSilence):
            return None
        visit = terms.event(row, {})
        # A real id of another person, or of another study, opens nothing here.
        return visit.worker_id == who.worker_id and row.get("study_id") == who.study_id

    def completion(self, who: Identity, outcome: Outcome) -> Completion:
        code = terms.completion_code(self.account.code_secret, who.back_to, outcome)
        url = f"{terms.COMPLETE_URL}?{urlencode({'cc': code})}"
        return Completion("redirect", url=url, code=code)

    def exclude(self, key: str, worker_id: str, pool: str, reason: str) -> Result:
        return result_of(key, lambda: self._groups.change("POST", key, worker_id, pool))

    def include(self, key: str, worker_id: str, pool: str) -> Result:
        return result_of(
            key, lambda: self._groups.change("DELETE", key, worker_id, pool)
        )

    # --- work and money ----------------------------------------------------------------

    def sync(self, ref: ExternalRef, since: datetime | None) -> Iterator[SessionEvent]:
        """Yield every submission of the study, however old, because listing is cheap."""
        try:
            ways_out = self._ways_out(ref.campaign_id)
            for row in self.calls.pages("submissions/", study=ref.campaign_id):
                yield terms.event(row, ways_out)
        except FAILURES as error:
            raise unreachable(error) from error

    def _ways_out(self, study: str) -> dict[str, Outcome]:
        key = str(self._study(study).get("internal_name", ""))
        secret = self.account.code_secret
        return {terms.completion_code(secret, key, way): way for way in terms.CODES}

    def decide(self, decisions: Sequence[DecisionSpec]) -> Iterator[Result]:
        for spec in decisions:
            yield result_of(spec.key, partial(self._decide, spec))

    def _decide(self, spec: DecisionSpec) -> Result:
        if spec.decision == "override":
            message = "A rejection on Prolific cannot be reversed through its API."
            return Result(spec.key, "refused", message=message)
        body = {"action": "APPROVE"}
        if spec.decision == "reject":
            category, reason = terms.rejection(spec.message)
            if len(reason) < terms.REJECT_CHARACTERS:
                return Result(spec.key, "refused", message=TOO_SHORT)
            body = {
                "action": "REJECT",
                "message": reason,
                "rejection_category": category,
            }
        try:
            self.calls("POST", f"submissions/{spec.session_id}/transition/", json=body)
        except ProlificRefusal as error:
            return self._how_it_stands(spec, error)
        return Result(spec.key, "done", spec.session_id)

    def _how_it_stands(self, spec: DecisionSpec, error: ProlificRefusal) -> Result:
        row = self.calls("GET", f"submissions/{spec.session_id}/")
        status = terms.status_of(str(row.get("status", "")))
        wanted_status = "approved" if spec.decision == "approve" else "rejected"
        if status == wanted_status:
            return Result(spec.key, "done", spec.session_id)
        if status in {"started", "submitted"} and error.status != 404:
            # It can take Prolific a moment until a submission may be decided.
            return Result(spec.key, "again", message=str(error))
        return Result(spec.key, "refused", message=status, code="decided-otherwise")

    def bonus(self, bonuses: Sequence[BonusSpec]) -> Iterator[Result]:
        """Pay each bonus by a separate list, sent only once."""
        for spec in bonuses:
            other = self._other_currency(spec.key, spec.currency)
            yield other if other is not None else pay_bonus(self.calls, spec)

    def _other_currency(self, key: str, currency: str) -> Result | None:
        try:
            there = self.currency()
        except GenieError as error:
            return Result(key, "again", message=error.message)
        if there == currency:
            return None
        message = f"The Prolific workspace pays in {there} now, not in {currency}."
        return Result(key, "again", message=message)

    def balance_cents(self) -> int | None:
        return int(self._balance["available_balance"])

    def currency(self) -> str:
        """Return the workspace's currency, which a study's amounts are in.

        Raises
        ------
        GenieError
            ``platform-not-configured`` if it cannot be determined.
        """
        return str(self._balance.get("currency_code") or "an unknown currency")

    @cached_property
    def _balance(self) -> Any:
        """Request once per adapter, which lives for one look at a campaign."""
        if not self.account.workspace_id:
            raise unset(
                "GENIE_PROLIFIC_WORKSPACE is not set, so the account's currency is "
                "unknown"
            )
        path = f"workspaces/{self.account.workspace_id}/balance/"
        try:
            return self.calls("GET", path)
        except FAILURES as error:
            raise unreachable(error) from error

    def quote(
        self,
        *,
        reward_cents: int,
        n_items: int,
        n_test_questions: int,
        max_assignments: int = 1,
    ) -> Quote:
        n = (n_items + n_test_questions) * max_assignments
        parameters = {"reward": reward_cents, "total_available_places": n}
        try:
            answer = self.calls("POST", "study-cost-calculator/", json=parameters)
        except FAILURES as error:
            raise unreachable(error) from error
        return quote_from_total(
            reward_cents=reward_cents,
            n_items=n_items * max_assignments,
            n_test_questions=n_test_questions * max_assignments,
            total_cents=int(answer["total_cost"]),
        )
