"""Guards of the house: what must hold of the code itself."""

import ast
import inspect
import pkgutil
import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils.module_loading import import_string

from leaderboard.submissions.services.lifecycle import LEGAL, RUNNERS
from tests.engine_blind import ENGINE_BLIND, TESTS, is_engine_blind
from tests.seldom import parts

ROOT = Path(__file__).resolve().parent.parent
APPS = ["genie", "leaderboard", "quality", "crowd"]
PURE = [
    "quality.agreement",
    "quality.authenticity.stats",
    "quality.detection.stats",
    "quality.test_questions.edits",
    "quality.test_questions.separability",
    "leaderboard.stats",
    "leaderboard.metrics",
    "leaderboard.metric_board.readers",
    "leaderboard.metric_board.stats",
    "leaderboard.submissions.preflight",
    "leaderboard.submissions.readers",
    "leaderboard.tasks.readers",
    "leaderboard.tasks.config",
    "crowd.scales",
]
SOURCES = [
    path
    for app in APPS
    for path in sorted((ROOT / app).rglob("*.py"))
    if "migrations" not in path.parts
]


def tracked() -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def functions(path: Path) -> list[ast.FunctionDef]:
    tree = ast.parse(path.read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def modules(package: str) -> list[str]:
    root = import_module(package)
    found = [package]
    for info in pkgutil.walk_packages(getattr(root, "__path__", []), f"{package}."):
        found.append(info.name)
    return found


def test_modules_are_short_enough_to_read():
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    long = {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > 600}
    assert long == {}
    assert len(lines) > 800


@pytest.mark.parametrize("app", ["leaderboard", "quality", "crowd"])
def test_jobs_are_thin(app):
    path = ROOT / app / "jobs.py"
    if not path.exists():
        assert app == "quality"
        return
    long = [f.name for f in functions(path) if f.end_lineno - f.lineno >= 15]
    assert long == []


def test_every_step_of_the_walk_has_its_job():
    for state, runner in RUNNERS.items():
        assert state in LEGAL
        assert callable(import_string(runner.job))


def test_every_state_can_be_reached_and_left_as_the_table_says():
    reachable = {"RECEIVED"}
    for _ in LEGAL:
        reachable |= {new for old in reachable for new in LEGAL[old]}
    assert reachable == set(LEGAL)


@pytest.mark.django_db
def test_migrations_make_the_tables_that_the_models_declare(settings):
    settings.MIGRATION_MODULES = {}  # the tests' own tables are made without migrations
    call_command("makemigrations", check_changes=True, dry_run=True)


@pytest.mark.slow
def test_records_that_no_code_changes_are_frozen():
    loose = []
    for path in SOURCES:
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
        changed = {a.attr for a in attributes if isinstance(a.ctx, ast.Store)}
        for node in nodes:
            marks = [ast.unparse(mark) for mark in getattr(node, "decorator_list", [])]
            if any("dataclass" in mark and "frozen=True" not in mark for mark in marks):
                own = [one for one in node.body if isinstance(one, ast.AnnAssign)]
                filled = "default_factory" in ast.unparse(node)
                if not filled and not changed & {one.target.id for one in own}:
                    loose.append(f"{path}: {node.name}")
    assert loose == []


def test_apps_do_not_depend_on_each_other_in_circles():
    needs: dict[str, set[str]] = {}
    for app in APPS[1:]:
        needs[app] = set()
        for path in (ROOT / app / "migrations").glob("0*.py"):
            module = import_module(f"{app}.migrations.{path.stem}")
            needs[app] |= {name for name, _ in module.Migration.dependencies}
    assert "quality" not in needs["crowd"]
    assert "leaderboard" not in needs["crowd"] | needs["quality"]


def test_public_functions_of_the_pure_rooms_explain_themselves():
    silent = []
    for name in [name for package in PURE for name in modules(package)]:
        module = import_module(name)
        for attribute, value in vars(module).items():
            public = not attribute.startswith("_") and inspect.isfunction(value)
            if public and value.__module__ == name and not inspect.getdoc(value):
                silent.append(f"{name}.{attribute}")
    assert silent == []


def test_values_of_one_part_cannot_be_changed_by_another():
    for path in SOURCES:
        for options in re.findall(r"@dataclass\((.*?)\)", path.read_text("utf-8")):
            assert "frozen=True" in options, path


def test_every_seldom_test_is_there():
    for test in [*parts("seldom.txt"), *parts("rotating.txt")]:
        file, name, *_method = test.split("::")
        assert f" {name}(" in (ROOT / file).read_text("utf-8"), test


def test_every_doctest_runs(request):
    paths = [ROOT / name for name in request.config.getini("testpaths")]
    with_some = [path for path in SOURCES if ">>> " in path.read_text("utf-8")]
    assert [one for one in with_some if not {one, *one.parents} & {*paths}] == []


def test_no_file_names_a_package_registry_or_a_path_of_a_machine():
    forbidden = re.compile(
        "|".join(
            [
                "py" + r"pi\.org",
                "pythonhosted" + r"\.org",
                "npm" + r"js\.(org|com)",
                r"(?<![\w.])/" + r"(root|home)/\w",
                # the worker site is at /work/, too
                r"(?<![\w.])/work/" + r"(main|shared|\.)",
            ]
        )
    )
    named = [
        str(path.relative_to(ROOT))
        for path in tracked()
        if path.suffix not in {".png", ".ico", ".woff2"}
        and forbidden.search(path.read_text("utf-8", errors="replace"))
    ]
    assert named == []


def test_what_is_left_out_on_postgresql_is_there_and_can_be_asked_for():
    for blind in (path for paths in ENGINE_BLIND.values() for path in paths):
        path = TESTS / blind
        assert path.exists(), blind
        assert is_engine_blind(path, ["tests"])
        assert not is_engine_blind(path, [f"tests/{blind}"])
