from collections.abc import Iterator

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Group
from django.db import connection
from django.db.models import FileField, Model

from genie.accounts import sign_in
from genie.history import log
from genie.lib import jobs, keys
from genie.lib.serving import health, mail_server
from genie.lib.unguessable import fingerprint
from genie.upkeep import uploads
from genie.upkeep.doctor import OK, PROBLEM, Finding, register, worst
from genie.upkeep.restore import mark

_LATE_SECONDS = 300
_WAITS_LONG_SECONDS = 3600
_SOME_BYTES = 2 << 30


def database() -> Finding:
    connection.ensure_connection()
    if not health.is_migrated():
        return Finding(PROBLEM, "migrations are missing: run `genie migrate`")
    return Finding(OK, f"{connection.vendor}, reachable and migrated")


def examine_keys() -> Finding:
    former = len(keys.sealing_keys()) - 1
    tail = f"; former keys: {former}" if former else ""
    each = [f"{n} {fingerprint(keys.values(n)[0])}" for n in keys.VARIABLES]
    return Finding(OK, f"fingerprints: {', '.join(each)}{tail}")


def examine_restore() -> Finding:
    if mark().exists():
        return Finding(
            PROBLEM, "a restore was started and not finished: run its command again"
        )
    return Finding(OK, "no unfinished restore")


def second_factors() -> Finding:
    named = set(settings.GENIE["SECOND_FACTOR"]) - {
        sign_in.ALL_STAFF,
        sign_in.SUPERUSERS,
    }
    known = Group.objects.filter(name__in=named).values_list("name", flat=True)
    if unknown := sorted(named.difference(known)):
        return Finding(
            PROBLEM,
            "GENIE_SECOND_FACTOR names groups that this site does not have: "
            f"{', '.join(unknown)}",
        )
    return Finding(OK, f"required for: {', '.join(sorted(named)) or 'no group'}")


def disk() -> Finding:
    usage = health.disk()
    verdict = worst(usage.free < health.LITTLE_BYTES, usage.free < _SOME_BYTES)
    share = usage.free / usage.total if usage.total else 0.0
    return Finding(
        verdict, f"{usage.free / 1e9:,.1f} GB free ({share:.0%}) below GENIE_VAR"
    )


def queue() -> Finding:
    late, waiting = jobs.longest_overdue(), jobs.n_waiting()
    if late is None:
        return Finding(PROBLEM, "never started: run `genie work`")
    seconds = max(0.0, late.total_seconds())
    age, failed = jobs.oldest_waiting_seconds() or 0.0, jobs.n_failed(days=1)
    running = jobs.queues()
    stuck = seconds > _LATE_SECONDS or age > _WAITS_LONG_SECONDS
    return Finding(
        worst(stuck, failed),
        f"jobs waiting: {waiting:,}, the oldest for {age:,.0f} s; failed in the last "
        f"day: {failed:,}; periodic jobs are {seconds:,.0f} s late; running queues: "
        f"{', '.join(running) or 'none'}",
    )


def mail() -> Finding:
    if not mail_server.is_used():
        return Finding(OK, "no mail server is set: e-mails go to files or the console")
    if trouble := mail_server.trouble(mail_server.SECONDS):
        return Finding(
            PROBLEM, f"{settings.EMAIL_HOST} does not accept mail: {trouble}"
        )
    return Finding(OK, f"{settings.EMAIL_HOST} responds")


def history() -> Finding:
    newest = log.head()
    if wrong := log.first_difference():
        return Finding(PROBLEM, f"the public log is damaged: {wrong}")
    return Finding(OK, f"{newest.size:,} entries match; the root is {newest.root}")


def files() -> Finding:
    stored = set(uploads.names())
    n, missing, changed, named = 0, [], [], set()
    for name, sha256 in _named_files():
        n += 1
        named.add(name)
        if name not in stored:
            missing.append(name)
        elif sha256 and uploads.sha256_of(name) != sha256:
            changed.append(name)
    orphans = len(stored - named)
    parts = [f"in the database: {n:,}"]
    parts += (
        [f"missing: {len(missing):,}, the first being {missing[0]}"] if missing else []
    )
    parts += (
        [f"changed: {len(changed):,}, the first being {changed[0]}"] if changed else []
    )
    parts += [f"not in the database: {orphans:,}"] if orphans else []
    return Finding(worst(len(missing) + len(changed), orphans), "; ".join(parts))


def _named_files() -> Iterator[tuple[str, str]]:
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, FileField):
                yield from _files_of(model, field.name)


def _files_of(model: type[Model], name: str) -> Iterator[tuple[str, str]]:
    columns = {field.name for field in model._meta.concrete_fields}
    asked = [name, f"{name}_sha256"] if f"{name}_sha256" in columns else [name]
    for row in model._base_manager.exclude(**{name: ""}).values_list(*asked).iterator():
        yield str(row[0]), str(row[1]) if len(row) > 1 else ""


def register_all() -> None:
    register("database", database)
    register("restore", examine_restore, needs_database=False)
    register("keys", examine_keys, needs_database=False)
    register("second factors", second_factors)
    register("queue", queue)
    register("disk", disk, needs_database=False)
    register("mail", mail, slow=True, needs_database=False)
    register("uploads", files, slow=True)
    register("public log", history, slow=True)
