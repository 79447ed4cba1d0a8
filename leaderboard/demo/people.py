"""The demo's accounts: real ones, with passwords drawn at the first start."""

import json
import secrets
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model

from crowd.workers.models.worker import Worker
from crowd.workers.services import consent, invitations
from genie.lib.errors import GenieError
from leaderboard.evaluation.services.simulate import (
    AGREEABLE,
    CARELESS,
    DILIGENT,
    Player,
)
from leaderboard.submissions.models.submission import Team
from leaderboard.teams.models.team import Membership

ADMIN, SUBMITTER, WORKER = "admin", "sam", "wren"
# No such address exists; it distinguishes the demo's accounts from others.
MARK = "@demo.invalid"
HABITS = [DILIGENT] * 7 + [CARELESS, AGREEABLE]


@dataclass(frozen=True)
class Credentials:
    role: str
    username: str
    password: str


def account(username: str, **fields: Any) -> Any:
    users = get_user_model()
    user, _ = users.objects.get_or_create(
        username=username, defaults={"email": f"{username}{MARK}", **fields}
    )
    return user


def refuse_strangers() -> None:
    """Refuse a database in which the demo's names belong to other accounts."""
    strangers = (
        get_user_model()
        .objects.filter(username__in=[ADMIN, SUBMITTER, WORKER])
        .exclude(email__endswith=MARK)
        .order_by("username")
    )
    if stranger := strangers.first():
        raise GenieError(
            f"This database has an account {stranger.get_username()!r} that the "
            "demo did not create, and the demo would change its password. "
            "Choose another database or folder for the demo: GENIE_VAR=var/demo "
            "make demo.",
            code="not-a-demo",
        )


def admin() -> Any:
    return account(ADMIN, is_staff=True, is_superuser=True)


def team(name: str, slug: str, member: Any) -> Team:
    team, _ = Team.objects.get_or_create(slug=slug, defaults={"name": name})
    team.members.add(member, through_defaults={"role": Membership.Role.OWNER})
    return team


def worker(pools: list[str]) -> Worker:
    user = account(WORKER)
    worker = Worker.objects.filter(user=user).first()
    if worker is None:
        worker = invitations.register_worker(user=user, platform_worker_id=WORKER)
    for pool in pools:
        consent.give(worker, pool)
    return worker


def players(pools: list[str]) -> list[Player]:
    """Return the simulated workers: most work well, two do not."""
    crowd = []
    for number, habit in enumerate(HABITS, start=1):
        worker_id = f"simulated-{number}"
        worker = Worker.objects.filter(platform_worker_id=worker_id).first()
        if worker is None:
            worker = invitations.register_worker(
                platform_worker_id=worker_id, simulated=True
            )
        for pool in pools:
            consent.give(worker, pool)
        crowd.append(Player(worker, habit))
    return crowd


def passwords() -> list[Credentials]:
    """Return the credentials; those of the first start are in a file of GENIE_VAR."""
    roles = {
        ADMIN: "staff, in the admin",
        SUBMITTER: "submitter",
        WORKER: "worker, at /work/",
    }
    file = settings.VAR_DIR / "demo-passwords.json"
    file.touch(mode=0o600)
    drawn = json.loads(file.read_text("utf-8") or "{}")
    for username in roles:
        user = account(username)
        if username not in drawn or not user.password:
            drawn[username] = secrets.token_urlsafe(9)
            user.set_password(drawn[username])
            user.save(update_fields=["password"])
    file.write_text(json.dumps(drawn), "utf-8")
    return [Credentials(role, name, drawn[name]) for name, role in roles.items()]
