"""Keys are rotated one by one: what is sealed stays readable, whenever a process is killed."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from allauth.mfa.utils import decrypt
from django.core.management import CommandError, call_command
from django.core.signing import BadSignature
from django.db import connection
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from crowd.campaigns.services import outbox
from crowd.elsewhere.services import hit_offer
from crowd.models import Requester
from crowd.money.models import PaymentDetails
from crowd.money.services import payouts
from crowd.requester.services.access_keys import create_key, live_secrets
from genie.lib import jobs, keys
from genie.lib.queue import waiting
from genie.lib.unguessable import name_for
from genie.upkeep import rotation
from genie.upkeep.backup import site_keys
from leaderboard.teams.models import Webhook
from leaderboard.teams.services import webhooks
from tests.crowd.making import make_campaign, make_worker

pytestmark = pytest.mark.django_db
TOTP_SECRET = "JBSWY3DPEHPK3PXP"
RECIPIENT = payouts.Recipient("Ada", "DE02120300000000202051")


@pytest.fixture
def site(settings, monkeypatch, tmp_path, team, submitter, client):
    """A site with its keys in files, a signed-in person, and one secret of each kind."""
    monkeypatch.delenv("GENIE_SECRET_KEY")
    settings.VAR_DIR, settings.SECRET_KEY = tmp_path, keys.Key(keys.session_key)
    settings.MFA_ADAPTER = "genie.accounts.adapter.SecretsAdapter"
    client.force_login(submitter)
    TOTP.activate(submitter, TOTP_SECRET)
    payouts.save_details(make_worker(), "BANK", RECIPIENT)
    hook = webhooks.add(team, "https://93.184.216.34/hook", by=submitter)
    jobs.enqueue("leaderboard.jobs.rescore_task", task=7)
    key, secret = create_key(Requester.objects.create(name="Rita"), by=submitter)
    return {"webhook": hook.secret, "access key": (key.key_id, secret)}


def assert_readable(site):
    row = PaymentDetails.own.get()
    assert payouts.recipient_of(row.sealed) == RECIPIENT
    assert Webhook.own.get().secret == site["webhook"]
    assert decrypt(Authenticator.own.get().data["secret"]) == TOTP_SECRET
    payload = OrmQ.objects.get().payload
    assert SignedPackage.loads(waiting.sign_anew(payload))["kwargs"] == {"task": 7}


def stored(table, column):
    with connection.cursor() as cursor:
        cursor.execute(f"select {column} from {table}")
        return str(cursor.fetchone()[0])


def test_the_database_holds_no_secret(site):
    assert site["webhook"] not in stored("leaderboard_webhook", "secret")
    assert TOTP_SECRET not in stored("mfa_authenticator", "data")


@pytest.fixture
def posted(site):
    campaign = make_campaign()
    return outbox.plan(campaign, outbox.Kind.POST, "1")


def everything(site, client):
    key_id, secret = site["access key"]
    return {
        "session": client.get("/account/").status_code == 200,
        "requester": live_secrets(key_id) == [secret],
        "pseudonym": name_for("public log", 7),
        "queue": OrmQ.objects.get().payload,
    }


@pytest.mark.parametrize("name", keys.VARIABLES)
def test_a_rotation_replaces_one_key_only(site, posted, client, name, capsys):
    before = everything(site, client)
    call_command("rotate_key", name)
    assert "The new key is in" in capsys.readouterr().out
    after = everything(site, client)
    changed = {one for one in before if before[one] != after[one]}
    assert changed == {name}
    assert_readable(site)
    if name == "queue":
        keys.write(keys.path_of("queue"), ["of somebody else"])
        with pytest.raises(BadSignature):
            SignedPackage.loads(after["queue"])
    # else it would be posted and paid again
    assert outbox.plan(posted.campaign, outbox.Kind.POST, "1") == posted


class Killed(BaseException): ...


@pytest.mark.parametrize("name", ["session", "queue"])
def test_a_rotation_killed_at_any_step_loses_nothing(site, name, monkeypatch):
    steps, limit = [], 0

    def dying(do):
        def step(*given):
            if len(steps) == limit:
                raise Killed
            steps.append(do)
            return do(*given)

        return step

    monkeypatch.setattr(keys, "write", dying(keys.write))
    monkeypatch.setattr(rotation, "_seal_some_anew", dying(rotation._seal_some_anew))
    monkeypatch.setattr(rotation, "sign_all_anew", dying(rotation.sign_all_anew))
    for limit in range(20):  # noqa: B007 - read by the steps
        steps.clear()
        try:
            rotation.rotate(name)
        except Killed:
            assert_readable(site)
        else:
            break
    assert limit == (7 if name == "session" else 3)
    assert_readable(site)


def test_a_key_in_the_environment_is_not_replaced(monkeypatch):
    monkeypatch.setenv("GENIE_QUEUE_KEY", "secret")
    with pytest.raises(CommandError, match="set GENIE_QUEUE_KEY_FILE to its path"):
        call_command("rotate_key", "queue")
    assert keys.values("queue") == ["secret"]
    monkeypatch.setenv("GENIE_QUEUE_KEY_FILE", "/nowhere/key")
    with pytest.raises(FileNotFoundError, match="No such file"):
        call_command("rotate_key", "queue")


def test_a_key_is_made_whole_and_belongs_to_the_folders_owner(site, monkeypatch):
    path, owners = keys.path_of("session"), []
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("os.chown", lambda part, *owner: owners.append(owner))
    path.write_text("")  # as the process that was first may have left it
    assert keys.session_key() == path.read_text()
    assert owners == [(path.stat().st_uid, path.stat().st_gid)]


def test_addresses_of_posted_hits_outlast_a_key_that_is_named_as_former(settings):
    settings.GENIE = {**settings.GENIE, "SITE_URL": "https://genie.example"}
    hit = make_campaign().hits.first()
    token = hit_offer.address_of(hit).rstrip("/").rpartition("/")[2]
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "new"
    assert hit_offer.hit_of(token) == hit


def test_a_backup_has_the_former_keys_of_both_kinds(site, settings):
    settings.SECRET_KEY_FALLBACKS = ["older"]
    rotation.rotate("session")
    assert len(site_keys()["session"]) == 3


def test_a_secret_is_kept_while_its_key_is_lost(site):
    path = keys.path_of("session")
    lines = keys.read(path)
    keys.write(path, ["another"])
    hook = Webhook.own.get()
    assert hook.secret not in ("", site["webhook"])
    hook.save()
    assert len(decrypt(Authenticator.own.get().data["secret"])) == 32
    keys.write(path, lines)
    assert_readable(site)
