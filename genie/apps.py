import gc
import sys
from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.core.management.base import BaseCommand, DjangoHelpFormatter
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate


def _load_without(module: str, *libraries: str) -> None:
    """Load a module as if libraries that it can do without were not installed."""
    loaded = {name: sys.modules.get(name) for name in libraries}
    sys.modules.update(dict.fromkeys(libraries))  # type: ignore[arg-type]
    import_module(module)
    for name, was in loaded.items():
        del sys.modules[name]
        if was is not None:
            sys.modules[name] = was


# The REST framework would load them on every start: one for a client that only tests
# use, one for colors of pages that Genie does not have. The test client that the API's
# description needs would load a template language, if installed.
_load_without("rest_framework.compat", "requests", "pygments")
_load_without("django.test.utils", "jinja2")


# Taken by every command, and of no use to those who type one.
_DJANGO_OPTIONS = {
    "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color",
    "--force-color", "--skip-checks",
}  # fmt: skip


def _make_cache_tables(using: str, **_given: Any) -> None:
    from django.core.management import call_command

    call_command("createcachetable", database=using, verbosity=0)


class GenieConfig(AppConfig):
    name = "genie"

    def ready(self) -> None:
        from genie import checks  # noqa: F401  registers itself
        from genie.lib import database
        from genie.lib.queue import pulse
        from genie.upkeep import examinations

        # They load every page. `check`, `migrate`, `up` and `demo` run them themselves, and
        # `runserver` needs the option that goes with them.
        if sys.argv[1:2] != ["runserver"]:
            BaseCommand.requires_system_checks = ()
        # `collectstatic` and `runserver` add one of these themselves
        DjangoHelpFormatter._reordered_actions = lambda self, actions: sorted(  # type: ignore[attr-defined]
            (one for one in actions if not _DJANGO_OPTIONS & {*one.option_strings}),
            key=lambda one: "--version" in one.option_strings,
        )
        examinations.register_all()
        pulse.listen()
        connection_created.connect(database.close_cursors_in_their_thread)
        post_migrate.connect(_make_cache_tables, sender=self)
        # Everything loaded by now is permanent, so the collector can skip it.
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
