"""What the documentation shows exists and runs."""

import re
import shlex
from functools import cache
from pathlib import Path

from django.core.management import get_commands, load_command_class

from crowd.hit_templates import all_templates
from leaderboard.designs.base import all_designs
from leaderboard.metrics.base import all_metrics
from leaderboard.site.docs.markdown import parser
from leaderboard.submissions.preflight.base import all_checks
from leaderboard.submissions.readers import _SENTENCES
from leaderboard.tasks.readers import all_readers

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    path
    for folder in (ROOT, ROOT / "docs", ROOT / "docs" / "example-extension")
    for path in sorted(folder.glob("*.md"))
]
COMMAND = re.compile(
    r"(?:manage\.py |(?:^ *|(?<=\$ )|(?<=`))genie(?:-research)? )([^`\n#|]+)",
    re.MULTILINE,
)
# Where it is said that a checkout has another name for the same commands.
BOTH_NAMES = {"CHANGELOG.md", "install.md", "own-task.md", "reproducing.md"}


def commands_in(path: Path) -> list[list[str]]:
    found = []
    for match in COMMAND.findall(path.read_text("utf-8")):
        try:
            words = shlex.split(match.strip().rstrip(".,;:)"))
        except ValueError:
            continue
        # a hyphen is easier to type
        if words and re.fullmatch(r"[a-z_-]+", words[0]):
            found.append([words[0].replace("-", "_"), *words[1:]])
    return found


def test_links_between_pages_lead_somewhere():
    lost = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
            if "://" not in target and not (page.parent / target).exists():
                lost.append(f"{page.name} links to {target}")
    assert lost == []


@cache
def options_of(name: str) -> set[str] | None:
    """Return the options of a command, or None if there is no such command."""
    known = get_commands()
    if name not in known:
        return None
    command = load_command_class(known[name], name)
    parser = command.create_parser("manage.py", name)
    return {option for action in parser._actions for option in action.option_strings}


def test_commands_shown_exist_and_take_these_options():
    wrong = []
    for page in PAGES:
        for name, *words in commands_in(page):
            options = options_of(name)
            if options is None:
                wrong.append(f"{page.name} shows the command {name}")
                continue
            wanted = [w.split("=")[0].rstrip("].,") for w in words if w[:2] == "--"]
            wrong += [
                f"{page.name}: {name} has no {option}"
                for option in wanted
                if option not in options
            ]
    assert wrong == []


def test_commands_are_shown_as_whoever_installed_genie_types_them():
    shown = {page.name for page in PAGES if "manage.py" in page.read_text("utf-8")}
    assert shown <= BOTH_NAMES


def test_commands_of_research_are_shown_as_such():
    apps = get_commands()
    wrong = [
        f"{page.name}: genie {name}"
        for page in PAGES
        for name in re.findall(r"(?:\bgenie|(?<!/)manage\.py) ([a-z_-]+)", page.read_text("utf-8"))
        if apps.get(name.replace("-", "_")) == "genie_research"
    ]  # fmt: skip
    assert wrong == []


def test_code_says_its_language():
    silent = [
        f"{page.name}: {token.content}"
        for page in PAGES
        if page.name != "client.md"  # the client's own README
        for token in parser().parse(page.read_text("utf-8"))
        if token.type in ("fence", "code_block") and not token.info.strip()
    ]
    assert silent == []


def test_files_of_the_code_that_are_named_exist():
    lost = []
    for page in PAGES:
        named = re.findall(
            r"`((?:genie|leaderboard|quality|crowd|benchmarks|client|research|tests)/[^`\s]*)`",
            page.read_text("utf-8"),
        )
        patterns = [re.sub(r"<\w+>", "*", name).rstrip("/") for name in named]
        lost += [f"{page.name}: {one}" for one in patterns if not any(ROOT.glob(one))]
    assert lost == []


def test_make_targets_shown_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for page in PAGES:
        for target in re.findall(r"\bmake ([a-z-]+)\b(?=[`\s,;.:)])", page.read_text()):
            shown = f"`make {target}" in page.read_text() or f"$ make {target}" in (
                page.read_text()
            )
            assert target in targets or not shown, f"{page.name} shows make {target}"


def test_every_environment_variable_of_the_settings_is_documented():
    names = set(
        re.findall(
            r'"(GENIE_[A-Z_]+|DATABASE_URL)"', (ROOT / "genie/settings.py").read_text()
        )
    )
    page = (ROOT / "docs/settings.md").read_text()
    missing = {name for name in names if f"`{name}`" not in page}
    assert missing == set()
    assert names


def test_reference_pages_have_all_that_the_code_has():
    formats = [*_SENTENCES, *all_checks(), *all_readers()]
    listed = {"formats": formats, "metrics": all_metrics(), "designs": all_designs()}
    for name, slugs in (listed | {"hit-templates": all_templates()}).items():
        page = (ROOT / f"docs/{name}.md").read_text("utf-8")
        assert [slug for slug in slugs if f"`{slug}`" not in page] == []
