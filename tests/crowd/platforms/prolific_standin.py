"""Prolific for tests: a server on loopback that keeps its published rules.

States of studies and submissions, places that only grow, decisions that cannot be taken
back, bonuses that are set up and then paid, once for each call: paying a list twice pays
twice, as documented. What is asked and answered is as the published schemas say; see
`prolific_contract`. Faults can be planted for single calls.
"""

import base64
import hashlib
import hmac
import json
import re
import secrets
import socket
import threading
from datetime import UTC, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from crowd.platforms.prolific_protocol.terms import CATEGORIES
from tests.crowd.platforms import prolific_contract

TOKEN = "token-of-the-tests"
HOOK_SECRET = "of the workspace"
WORKSPACE = "64a000000000000000000001"
FEE = 428  # thousandths
MINIMUM_HOURLY = 800
LIVE = {"RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED"}


def _choice(name, title, choices):
    kind = {"type": "select", "data_type": "ChoiceID"}
    return {"filter_id": name, "title": title, **kind, "choices": choices}


def _range(name, title, most):
    kind = {"type": "range", "data_type": "integer"}
    return {"filter_id": name, "title": title, **kind, "min": 0, "max": most}


COUNTRIES = {"0": "United Kingdom", "1": "United States", "3": "Germany"}
LANGUAGES = {"7": "Chinese", "19": "English", "24": "German"}
FILTERS = [
    _choice("current-country-of-residence", "Country of residence", COUNTRIES),
    _choice("fluent-languages", "Fluent languages", LANGUAGES),
    _choice("ai-taskers", "AI taskers", {"0": "Yes"}),
    _range("approval_rate", "Approval rate", 100),
    _range("approval_numbers", "Number of approvals", 10_000),
]


def new_id():
    return secrets.token_hex(12)


def now():
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


class Refused(Exception):
    def __init__(self, status, detail):
        super().__init__(detail)
        self.status = status


class Prolific:
    """The state behind the counter, and the people in front of it."""

    def __init__(self, balance_cents=100_000):
        self.lock = threading.RLock()
        self.studies = {}
        self.submissions = {}
        self.groups = {}
        self.bulks = {}
        self.balance = balance_cents
        self.currency = "USD"
        self.rewards = self.fees = 0
        self.paid = {}  # participant -> cents
        self.requests = []  # (method, path) in the order that they came
        self.faults = []  # [method, pattern of the path, kind, how often]
        self.page_limit = 100
        self.as_published = True  # unless a test plays a server of tomorrow
        self.filters = FILTERS
        self.testers = set()  # accounts to try studies with
        self.people = {}  # participant -> what they told Prolific, by filter
        self.processing = set()  # submissions that may not be decided on yet

    # --- people -------------------------------------------------------------------------

    def take_place(self, study_id, participant):
        """Let somebody take a place; give the address they are sent to, or None."""
        with self.lock:
            study = self.studies[study_id]
            if study["status"] != "ACTIVE" or self._shut_out(study, participant):
                return None
            if study.get("test") and participant not in self.testers:
                return None
            mine = [s for s in self._of(study_id) if s["participant_id"] == participant]
            taken = LIVE | {"REJECTED", "RETURNED", "SCREENED OUT"}
            most = study["submissions_config"]["max_submissions_per_participant"]
            mine = [s for s in mine if s["status"] in taken]
            if len(mine) >= most or any(s["status"] == "ACTIVE" for s in mine):
                return None
            if len(self._taken(study_id)) >= study["total_available_places"]:
                return None
            session = new_id()
            self.submissions[session] = {
                "id": session,
                "participant_id": participant,
                "study_id": study_id,
                "status": "ACTIVE",
                "started_at": now(),
                "completed_at": None,
                "entered_code": None,
                "bonus_payments": [],
            }
            filled = {
                "PROLIFIC_PID": participant,
                "STUDY_ID": study_id,
                "SESSION_ID": session,
            }
            address = study["external_study_url"]
            for name, value in filled.items():
                address = address.replace(f"{{{{%{name}%}}}}", value)
            return session, address

    def come_back(self, session, code):
        with self.lock:
            found = self.submissions[session]
            if found["status"] != "ACTIVE":
                return found["status"]
            study = self.studies[found["study_id"]]
            codes = {one["code"]: one for one in study["completion_codes"]}
            found |= {"entered_code": code, "completed_at": now()}
            actions = [a["action"] for a in codes.get(code, {}).get("actions", [])]
            found["status"] = "AWAITING REVIEW"
            if "REQUEST_RETURN" in actions:
                found["status"] = "RETURNED"
            for action in codes.get(code, {}).get("actions", []):
                if action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                    found["status"] = "SCREENED OUT"
                    self._charge(found, action["fixed_screen_out_reward"])
            if len(self._taken(study["id"])) >= study["total_available_places"]:
                study["status"] = "AWAITING REVIEW"
            return found["status"]

    def give_up(self, session, status="RETURNED"):
        with self.lock:
            self.submissions[session]["status"] = status

    # --- the API ------------------------------------------------------------------------

    def call(self, method, path, query, body):
        with self.lock:
            for pattern, verb, act in ROUTES:
                found = re.fullmatch(pattern, path)
                if found and verb == method:
                    answer = act(self, *found.groups(), query=query, body=body)
                    return STATUSES.get(act, 200), answer
        raise Refused(404, "Not found.")

    def list_studies(self, *, query, body):
        return self._page(list(self.studies.values()), query)

    def create_study(self, *, query, body):
        for name in ("name", "description", "external_study_url", "completion_codes"):
            if not body.get(name):
                raise Refused(400, f"{name} is required.")
        codes = [one["code"] for one in body["completion_codes"]]
        if len(set(codes)) < len(codes):
            raise Refused(400, "Each code must be unique within a study.")
        for group in self._blocked(body):
            if group not in self.groups:
                raise Refused(400, f"There is no group {group}.")
        shortest = 2 + 2 * (t := body["estimated_completion_time"]) + 2 * t**0.5
        if body["maximum_allowed_time"] < shortest:
            raise Refused(400, "The longest time is too short.")
        hourly = body["reward"] * 60 / body["estimated_completion_time"]
        if hourly < MINIMUM_HOURLY:
            raise Refused(400, "The reward is below the minimum for an hour.")
        study = {**body, "id": new_id(), "status": "UNPUBLISHED"}
        self.studies[study["id"]] = study
        return study

    def get_study(self, study_id, *, query, body):
        return self._study(study_id)

    def change_study(self, study_id, *, query, body):
        study = self._study(study_id)
        if set(body) - {"total_available_places", "internal_name"}:
            raise Refused(400, "A published study cannot be changed so.")
        places = body.get("total_available_places", study["total_available_places"])
        if places < study["total_available_places"]:
            raise Refused(400, "Places can only become more.")
        study |= body
        if study["status"] == "AWAITING REVIEW":
            study["status"] = "ACTIVE"
        return study

    def move_study(self, study_id, *, query, body):
        study = self._study(study_id)
        steps = {
            ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
            ("ACTIVE", "PAUSE"): "PAUSED",
            ("PAUSED", "START"): "ACTIVE",
            ("ACTIVE", "STOP"): "AWAITING REVIEW",
            ("PAUSED", "STOP"): "AWAITING REVIEW",
        }
        step = steps.get((study["status"], body.get("action")))
        if step is None:
            raise Refused(400, f"Not possible while {study['status']}.")
        if body["action"] == "PUBLISH" and self._cost(study) > self.balance:
            raise Refused(400, "Your balance is too low; top up first.")
        study["status"] = step
        return study

    def test_study(self, study_id, *, query, body):
        study = self._study(study_id)
        if study["status"] != "UNPUBLISHED" or not self.testers:
            raise Refused(400, "It needs a draft, and a test participant.")
        copy = {**study, "id": new_id(), "status": "ACTIVE", "test": True}
        self.studies[copy["id"]] = copy
        url = f"https://app.prolific.com/studies/{copy['id']}"
        return {"study_id": copy["id"], "study_url": url}

    def list_submissions(self, *, query, body):
        rows = [s for s in self.submissions.values() if s["study_id"] == query["study"]]
        shown = [
            {
                "id": row["id"],
                "participant_id": row["participant_id"],
                "status": row["status"],
                "started_at": row["started_at"],
                "completed_at": row["completed_at"],
                "has_siblings": False,
                "study_code": row["entered_code"],
            }
            for row in rows
        ]
        return self._page(shown, query)

    def get_submission(self, session, *, query, body):
        found = self._submission(session)
        return {**found, "participant": found["participant_id"]}

    def move_submission(self, session, *, query, body):
        found = self._submission(session)
        goals = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}
        goal = goals.get(body.get("action"))
        if goal is None:
            raise Refused(400, "There is no such action.")
        if goal == found["status"]:
            return found  # the second request is ignored
        if found["status"] != "AWAITING REVIEW" or session in self.processing:
            raise Refused(400, f"Not possible while {found['status']}.")
        if goal == "REJECTED":
            if len(body.get("message", "")) < 100:
                raise Refused(400, "The message must have at least 100 characters.")
            if body.get("rejection_category") not in CATEGORIES:
                raise Refused(400, "That is no category.")
            found["rejection"] = (body["rejection_category"], body["message"])
        else:
            self._charge(found, self.studies[found["study_id"]]["reward"])
        found["status"] = goal
        return found

    def set_up_bonuses(self, *, query, body):
        lines = [line.split(",") for line in body["csv_bonuses"].split()]
        mine = {s["id"]: s for s in self._of(body["study_id"])}
        unknown = [name for name, _ in lines if name not in mine]
        if unknown:
            raise Refused(400, f"These took no part in the study: {unknown}.")
        bulk = {
            "id": new_id(),
            "study": body["study_id"],
            "payments": [(mine[n], int(Decimal(a) * 100)) for n, a in lines],
        }
        self.bulks[bulk["id"]] = bulk
        total = sum(cents for _, cents in bulk["payments"])
        return {
            "id": bulk["id"],
            "study": bulk["study"],
            "amount": total,
            "total_amount": total + self._fee(total),
        }

    def pay_bonuses(self, bulk_id, *, query, body):
        if bulk_id not in self.bulks:
            raise Refused(404, "Not found.")
        payments = self.bulks[bulk_id]["payments"]
        total = sum(c + self._fee(c) for _, c in payments)
        if total > self.balance:
            raise Refused(400, "Your balance is too low; top up first.")
        for submission, cents in payments:  # each call pays, also the second one
            self._charge(submission, cents)
            submission["bonus_payments"].append(cents)
        return "The bonuses will be paid."

    def calculate(self, *, query, body):
        cost = int(body["total_available_places"]) * (
            body["reward"] + self._fee(body["reward"])
        )
        return {"total_cost": float(cost)}

    def list_groups(self, *, query, body):
        if query.get("workspace_id") != WORKSPACE:
            raise Refused(400, "workspace_id is required.")
        return self._page(list(self.groups.values()), query)

    def create_group(self, *, query, body):
        if body.get("workspace_id") != WORKSPACE:
            raise Refused(400, "A workspace must be specified.")
        group = {"id": new_id(), "name": body["name"], "members": []}
        self.groups[group["id"]] = group
        return group

    def add_members(self, group, *, query, body):
        members = self.groups[group]["members"]
        members += [p for p in body["participant_ids"] if p not in members]
        return {"results": [{"participant_id": p} for p in members]}

    def drop_members(self, group, *, query, body):
        kept = self.groups[group]["members"]
        kept[:] = [p for p in kept if p not in body["participant_ids"]]
        return {"results": [{"participant_id": p} for p in kept]}

    def list_filters(self, *, query, body):
        return self._page(self.filters, query)

    def get_balance(self, workspace, *, query, body):
        if workspace != WORKSPACE:
            raise Refused(404, "Not found.")
        return {"currency_code": self.currency, "available_balance": self.balance}

    # --- the books ----------------------------------------------------------------------

    def _charge(self, submission, cents):
        if self.studies[submission["study_id"]].get("test"):
            return
        fee = self._fee(cents)
        self.balance -= cents + fee
        self.rewards += cents
        self.fees += fee
        who = submission["participant_id"]
        self.paid[who] = self.paid.get(who, 0) + cents

    def _fee(self, cents):
        return -(-cents * FEE // 1000)

    def _cost(self, study):
        return study["total_available_places"] * (
            study["reward"] + self._fee(study["reward"])
        )

    def _study(self, study_id):
        if study_id not in self.studies:
            raise Refused(404, "Not found.")
        return self.studies[study_id]

    def _submission(self, session):
        if session not in self.submissions:
            raise Refused(404, "Not found.")
        return self.submissions[session]

    def _of(self, study_id):
        return [s for s in self.submissions.values() if s["study_id"] == study_id]

    def _taken(self, study_id):
        return [s for s in self._of(study_id) if s["status"] in LIVE]

    def _blocked(self, study):
        return [
            group
            for one in study.get("filters", [])
            if one["filter_id"] == "participant_group_blocklist"
            for group in one["selected_values"]
        ]

    def _shut_out(self, study, participant):
        told = self.people.get(participant, {})
        for one in study.get("filters", []):
            mine = told.get(one["filter_id"])
            if "selected_range" in one:
                if mine is None or mine < one["selected_range"]["lower"]:
                    return True
            elif one["filter_id"].startswith("participant_group_"):
                inside = any(
                    participant in self.groups[group]["members"]
                    for group in one["selected_values"]
                )
                if inside is one["filter_id"].endswith("blocklist"):
                    return True
            elif mine not in one["selected_values"]:
                return True
        return False

    def _page(self, rows, query):
        page = int(query.get("page", 1))
        size = min(int(query.get("page_size", 20)), self.page_limit)
        shown = rows[(page - 1) * size : page * size]
        more = page * size < len(rows)
        return {
            "results": shown,
            "_links": {"next": {"href": f"?page={page + 1}" if more else None}},
            "meta": {"count": len(rows)},
        }

    # --- notices ------------------------------------------------------------------------

    def notice(self, session, secret, **changes):
        found = self.submissions[session]
        body = json.dumps(
            {
                "resource_id": session,
                "event_type": "submission.status.change",
                "participant_id": found["participant_id"],
                "status": found["status"],
                **changes,
            }
        ).encode()
        return signed(body, secret), body


def signed(body, secret, *, at=None, event_id=None):
    stamp = str(int(at if at is not None else datetime.now(UTC).timestamp()))
    mac = hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256)
    return {
        "X-Prolific-Request-Signature": base64.b64encode(mac.digest()).decode(),
        "X-Prolific-Request-Timestamp": stamp,
        "X-Event-Id": event_id or new_id(),
        "Content-Type": "application/json",
    }


ID = "([0-9a-f]{24})"
# what is not answered with 200
STATUSES = {
    Prolific.create_study: 201,
    Prolific.set_up_bonuses: 201,
    Prolific.pay_bonuses: 202,
    Prolific.create_group: 201,
}
ROUTES = [
    ("studies/", "GET", Prolific.list_studies),
    ("studies/", "POST", Prolific.create_study),
    (f"studies/{ID}/", "GET", Prolific.get_study),
    (f"studies/{ID}/", "PATCH", Prolific.change_study),
    (f"studies/{ID}/transition/", "POST", Prolific.move_study),
    (f"studies/{ID}/test-study", "POST", Prolific.test_study),
    ("submissions/", "GET", Prolific.list_submissions),
    (f"submissions/{ID}/", "GET", Prolific.get_submission),
    (f"submissions/{ID}/transition/", "POST", Prolific.move_submission),
    ("submissions/bonus-payments/", "POST", Prolific.set_up_bonuses),
    (f"bulk-bonus-payments/{ID}/pay/", "POST", Prolific.pay_bonuses),
    ("study-cost-calculator/", "POST", Prolific.calculate),
    ("participant-groups/", "GET", Prolific.list_groups),
    ("participant-groups/", "POST", Prolific.create_group),
    (f"participant-groups/{ID}/participants/", "POST", Prolific.add_members),
    (f"participant-groups/{ID}/participants/", "DELETE", Prolific.drop_members),
    ("filters/", "GET", Prolific.list_filters),
    (f"workspaces/{ID}/balance/", "GET", Prolific.get_balance),
]


def _error(status, detail):
    title = "This went wrong."
    return {
        "error": {"status": status, "error_code": 0, "title": title, "detail": detail}
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def handle_any(self):
        address = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        path = address.path.removeprefix("/api/v1/")
        query = {k: v[-1] for k, v in parse_qs(address.query).items()}
        prolific = self.server.prolific
        prolific.requests.append((self.command, path))
        fault = self._fault(prolific, path)
        if fault in {"400", "429", "503", "500"}:
            return self._send(int(fault), _error(int(fault), "Try later."))
        if fault == "reset":
            return self._cut()
        if self.headers.get("Authorization") != f"Token {TOKEN}":
            return self._send(401, _error(401, "No such token."))
        try:
            if wrong := prolific_contract.wrong_request(self.command, path, body):
                raise Refused(400, f"Not as published: {wrong}")
            status, answer = prolific.call(self.command, path, query, body)
        except Refused as error:
            status, answer = error.status, _error(error.status, str(error))
        plain = json.loads(json.dumps(answer, default=str))
        wrong = prolific_contract.wrong_answer(self.command, path, status, plain)
        assert not (wrong and prolific.as_published), (path, wrong)
        if fault == "500 after":
            return self._send(500, _error(500, "Oops."))
        if fault == "reset after":
            return self._cut()
        return self._send(status, answer)

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any

    def _fault(self, prolific, path):
        for fault in prolific.faults:
            method, pattern, kind, n = fault
            if n and method == self.command and re.fullmatch(pattern, path):
                fault[3] -= 1
                return kind
        return None

    def _send(self, status, answer):
        content = b"" if answer is None else json.dumps(answer, default=str).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(content)

    def _cut(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, prolific=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.prolific = prolific or Prolific()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """Say nothing of connections that a test cuts."""

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args):
        self.shutdown()
        self.server_close()
