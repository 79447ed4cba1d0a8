import ctypes
import gc
import importlib
import itertools
import os
import pickle
import subprocess
import sys
from types import SimpleNamespace

import hypothesis
import pytest
from django.core.cache import caches
from django.db import connection, transaction
from django.test import TransactionTestCase
from django.urls.converters import IntConverter
from hypothesis.internal.conjecture import providers

from genie.lib import bounded
from tests import browser, cuts, decoys, guards, kept, seldom
from tests.browser import chromium, open_page  # noqa: F401
from tests.cpu_by_file import CpuByFile
from tests.engine_blind import TESTS, is_engine_blind

pytest_plugins = ["tests.cast"]
collect_ignore = ["crash/kinds.py"]  # a script
IntConverter.regex = "-?[0-9]+"  # pages of decoys have addresses, too

# A busy machine is slow, not wrong; and the same tests run the same examples.
hypothesis.settings.register_profile("genie", deadline=None, derandomize=True)
hypothesis.settings.load_profile("genie")
# Constants of our modules would differ by what a process has loaded, and cost it 2 s.
providers._get_local_constants = providers.Constants


# Minutes long: begun last, they would keep one processor busy while the others wait.
LONGEST = ("test_kill.py", "test_demo.py", "test_supervisor.py")
# Folders of tests that have a database without asking.
WITH_ROWS = tuple(
    f"tests/{folder}/"
    for folder in (
        "crowd", "genie", "leaderboard/boards", "leaderboard/evaluation",
        "leaderboard/imports", "leaderboard/judges", "leaderboard/studio",
        "leaderboard/tasks", "quality/appeals", "quality/detection",
    )
)  # fmt: skip
# Caches of 160 MB, WordNet's, and 5 MB for each account: emptied after each file.
LARGE = {"leaderboard.metrics.meteor": "synonyms", "crowd.platforms.mturk": "_client"}
# Whose tables are empty when a test begins.
OURS = ("genie", "crowd", "quality", "leaderboard", "auth_user")


def pytest_addoption(parser):
    parser.addoption(
        "--cpu-by-file", action="store_true", help="say which tests cost most"
    )
    parser.addoption(
        "--rewrite", action="store_true", help="write the committed files of tests/nets"
    )


def pytest_configure(config):
    if config.getoption("cpu_by_file"):
        config.pluginmanager.register(CpuByFile())


def pytest_sessionstart():
    """Let nobody fail because the collector ran at the bottom of a deeply nested text.

    What it finalizes there has no room left on the stack, which says nothing of the test
    that sent the text: `[[[[[…`.
    """
    told = sys.unraisablehook

    def tell(unraisable):
        if unraisable.exc_type is not RecursionError:
            told(unraisable)

    sys.unraisablehook = tell


def pytest_ignore_collect(collection_path, config):
    """On PostgreSQL do not even read a file of which nothing runs."""
    if connection.vendor != "postgresql" or collection_path.suffix != ".py":
        return None
    asked = config.option.markexpr
    blind = asked == "every_engine" or is_engine_blind(collection_path, config.args)
    return (blind and "every_engine" not in collection_path.read_text("utf-8")) or None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let every second process begin at the end: two rewrite half of the files each."""
    gc.disable()  # until all is collected
    report = yield
    odd = os.environ.get("PYTEST_XDIST_WORKER", "0")[-1] in "13579"
    if odd and report.passed and isinstance(collector, pytest.Directory):
        report.result.reverse()
    return report


def pytest_itemcollected(item):
    seldom.mark(item)  # before pytest leaves out what is slow


def pytest_collection_modifyitems(config, items):
    """Begin the longest tests first; on PostgreSQL leave out what says nothing new.

    Tests in a browser come next, one after another: they share one.
    """
    for item in items:
        if item.nodeid.startswith(WITH_ROWS) and not _asks_a_database(item):
            item.add_marker("django_db")
    items.sort(key=_place)
    if connection.vendor == "postgresql":
        paths = {item.path for item in items}
        blind = {path for path in paths if is_engine_blind(path, config.args)}
        asks = [item for item in items if _asks_this_engine(item, blind)]
        asking = set(asks)
        config.hook.pytest_deselected(items=[i for i in items if i not in asking])
        items[:] = asks


def _place(item):
    first = item.path.name in LONGEST, _browses(item)
    return (*(not one for one in first), item.path, isinstance(item, pytest.Function))


def _browses(item) -> bool:
    return item.get_closest_marker("browser") is not None


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """End the browser before a test that wants none: its loop would be in the way.

    What is large and no longer used goes, too.
    """
    if _browses(item) and (nextitem is None or not _browses(nextitem)):
        browser.close()
    if nextitem is None or nextitem.path != item.path:
        _empty_large_caches()


# gives what is free back to the system, in milliseconds; glibc alone has it
_trim = getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)


def _empty_large_caches() -> None:
    loaded = [(sys.modules[m], name) for m, name in LARGE.items() if m in sys.modules]
    caches = [getattr(module, name) for module, name in loaded]
    if any(cache.cache_info().currsize for cache in caches):
        for cache in caches:
            cache.cache_clear()
        gc.collect()
    _trim(0)


def _asks_this_engine(item, blind) -> bool:
    if item.get_closest_marker("every_engine") is not None:
        return True
    # they start processes with another database
    whole = item.path.name in {"test_kill.py", "test_demo.py", "test_backup.py"}
    return (whole or _asks_a_database(item)) and item.path not in blind


def _asks_a_database(item) -> bool:
    fixtures = {"db", "transactional_db", "live_server"}
    return item.get_closest_marker("django_db") is not None or bool(
        fixtures & set(getattr(item, "fixturenames", ()))
    )


def pytest_collection_finish():
    """Spare the garbage collector what stays until the end: it is most of the memory."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session")
def _folders_of_media(tmp_path_factory):
    """Name as many folders as there are tests; most are never made."""
    above = tmp_path_factory.mktemp("media")
    return (above / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_media(settings, _folders_of_media):
    """Give each test its own folder for uploads."""
    settings.MEDIA_ROOT = next(_folders_of_media)


@pytest.fixture(scope="session", autouse=True)
def _rows_for_all_processes(tmp_path_factory):
    """Keep rows of tests/kept.py where the other processes of this run find them."""
    own = tmp_path_factory.getbasetemp()
    several = "PYTEST_XDIST_WORKER" in os.environ
    kept.keep_in((own.parent if several else own) / "kept")


@pytest.fixture(autouse=True)
def _nothing_kept():
    """Forget what other tests computed: rows of the same numbers are not theirs."""
    for name in ("shared", "computed"):
        caches[name].clear()


def _read_here(command, *, stdin, **_):
    """Do in this process what a bounded one would do, without its limits."""
    (module, name), _cpu, _memory, kwargs = pickle.load(stdin)
    try:
        answer = getattr(importlib.import_module(module), name)(stdin, **kwargs)
    except Exception as error:  # noqa: BLE001 - what the other process would print
        return subprocess.CompletedProcess(command, 1, b"", repr(error).encode())
    return subprocess.CompletedProcess(command, 0, pickle.dumps(answer), b"")


@pytest.fixture(autouse=True)
def _cut_off(request):
    """Cut transactions and jobs off in tests that tests/cuts.py names."""
    name = request.node.nodeid.removeprefix("tests/")
    if connection.vendor == "sqlite" and name in cuts.CUT.keys() | cuts.KILLED.keys():
        with (
            cuts.cutting(cuts.CUT.get(name, "").split()),
            cuts.cutting(cuts.KILLED.get(name, "").split(), jobs=True),
        ):
            yield
    else:
        yield


@pytest.fixture(autouse=True)
def _guarded(request):
    """Fail a test in which a lock or a transaction is missing: see tests/guards.py."""
    yield
    wrong = guards.wrong()
    assert seldom.is_costly(request.node) or wrong == []


@pytest.fixture(autouse=True)
def _no_process_for_each_file(request, monkeypatch):
    """Read files here: to start a process for each costs more than what most tests do."""
    if request.node.get_closest_marker("bounded") is None:
        here = SimpleNamespace(run=_read_here, TimeoutExpired=subprocess.TimeoutExpired)
        monkeypatch.setattr(bounded, "subprocess", here)


@pytest.fixture(autouse=True)
def _numbers_from_one(request):
    """Number each test's rows from 1: seeds are made of numbers, and so are results."""
    if not _asks_a_database(request.node):
        return
    request.getfixturevalue("_django_db_helper")
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "select setval(format('%%I.%%I', schemaname, sequencename)::regclass,"
                " 1, false) from pg_sequences where sequencename ~ %s",
                [f"^({'|'.join(OURS)})_"],
            )
        else:
            cursor.execute("delete from sqlite_sequence")


# What `migrate` puts there and no test changes.
KEPT_ROWS = {"django_content_type", "auth_permission"}
# What it puts there and tests change: their rows as they were.
ROLES: dict[str, list[tuple]] = {"auth_group": [], "auth_group_permissions": []}


def _remember_roles() -> None:
    with connection.cursor() as cursor:
        for name in ROLES:
            cursor.execute(f"select * from {connection.ops.quote_name(name)}")
            ROLES[name] = cursor.fetchall()


def _delete_rows(test_case) -> None:
    """Empty the tables after a test that committed.

    Django's `flush` truncates each of a hundred tables, which PostgreSQL takes long
    for, and then makes the rows of KEPT_ROWS again, which takes longer still.
    """
    decoys.spare()
    names = set(connection.introspection.django_table_names(only_existing=False))
    with transaction.atomic(), connection.cursor() as cursor:
        for name in sorted(names - KEPT_ROWS):
            cursor.execute(f"delete from {connection.ops.quote_name(name)}")
        for name, rows in ROLES.items():
            values = ", ".join(["%s"] * len(rows[0]))
            to = connection.ops.quote_name(name)
            cursor.executemany(f"insert into {to} values ({values})", rows)
        decoys.plant()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """End what still talks to the test database, so that it can be dropped.

    A thread of the live server keeps its session for as long as a client keeps its
    connection alive, which may be longer than the run.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", _delete_rows)
        with django_db_blocker.unblock():
            _remember_roles()
            decoys.guard()
            decoys.plant()
        if connection.vendor == "sqlite":
            guards.watch()
        yield
    with django_db_blocker.unblock():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    "where datname = current_database() and pid <> pg_backend_pid()"
                )


@pytest.fixture
def without_decoys(_numbers_from_one):
    """Take the decoys away from a test, or from a file that tests/decoys.py names."""
    decoys.uproot()


@pytest.fixture(autouse=True)
def _decoys(request, _numbers_from_one):
    name = request.path.relative_to(TESTS).as_posix()
    if (seldom.is_costly(request.node) or name in decoys.WITHOUT) and _asks_a_database(
        request.node
    ):
        request.getfixturevalue("without_decoys")
