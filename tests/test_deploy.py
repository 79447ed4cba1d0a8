"""The image, the compose file and the units: what they run exists and takes these options."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "docs" / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
OURS = ("setup", "web", "queue")


def dockerfile() -> list[tuple[str, str]]:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    joined = text.replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def last(instruction: str) -> str:
    return [words for name, words in dockerfile() if name == instruction][-1]


def commands() -> list[list[str]]:
    found = [json.loads(last("CMD"))]
    for name in OURS:
        words = COMPOSE["services"][name]["command"]
        found += parts_of(words[2]) if words[:2] == ["sh", "-c"] else [words]
    for unit in UNITS:
        for line in re.findall(r"^ExecStart=(.+)$", unit.read_text("utf-8"), re.M):
            found.append(shlex.split(line.removeprefix("/opt/genie/bin/")))
    return found


def parts_of(line: str) -> list[list[str]]:
    return [shlex.split(part) for part in line.split("&&")]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_what_is_started_exists_and_takes_these_options(words):
    if words[0] == "gunicorn":
        from gunicorn.config import Config

        parser = Config().parser()
    else:
        assert words.pop(0) == "genie"
        known = get_commands()
        assert words[0] in known
        parser = load_command_class(known[words[0]], words[0]).create_parser(
            "genie", words[0]
        )
        words = words[1:]
    parser.parse_args(words if words[:1] != ["gunicorn"] else words[1:])


def test_the_image_takes_what_is_there_and_runs_as_somebody_of_its_own():
    for name, words in dockerfile():
        if name == "COPY" and "--from" not in words:
            assert (ROOT / words.split()[0]).exists()
    assert last("USER") == "genie"
    order = [name for name, _ in dockerfile()]
    assert order.index("USER") < order.index("CMD")
    assert last("VOLUME") == last("WORKDIR") == "/var/lib/genie"
    assert "GENIE_VAR=/var/lib/genie" in last("ENV").split()


def test_nothing_of_the_wheel_is_kept_from_the_build():
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    for folder in ("genie", "leaderboard", "quality", "crowd", "templates", "static"):
        assert folder not in ignored
    assert {".git", "var", "genie.env"} <= set(ignored)


@pytest.mark.django_db
def test_the_health_checks_ask_a_site_that_answers(live_server):
    asked = [COMPOSE["services"][n]["healthcheck"]["test"] for n in ("web", "queue")]
    programs = [test[-1] for test in asked]
    programs.append(json.loads(last("HEALTHCHECK").partition("CMD ")[2])[-1])
    addresses = [re.search(r"'(http://[^/]+)(/\w+)'", text) for text in programs]
    assert [found[2] for found in addresses] == ["/healthz", "/readyz", "/healthz"]
    for program, found in zip(programs, addresses, strict=True):
        if found[2] == "/healthz":
            exec(program.replace(found[1], live_server.url))  # our own file
        assert found[1].endswith(":8000")


def test_the_parts_start_in_order_and_keep_their_data():
    services = COMPOSE["services"]
    assert set(services) == {*OURS, "database", "proxy", "cache"}
    profiles = {name: services[name].get("profiles") for name in services}
    assert {name for name in profiles if profiles[name]} == {"cache"}
    for name in OURS:
        assert services[name]["volumes"] == ["data:/var/lib/genie"]
        assert services[name]["environment"]["GENIE_VAR"] == "/var/lib/genie"
    waits = {
        name: {on: how["condition"] for on, how in one["depends_on"].items()}
        for name, one in services.items()
        if "depends_on" in one
    }
    done = {"setup": "service_completed_successfully"}
    assert waits == {
        "setup": {"database": "service_healthy"},
        "web": done,
        "queue": done,
        "proxy": {"web": "service_healthy"},
    }
    assert "healthcheck" in services["database"]
    assert set(COMPOSE["volumes"]) == {"data", "database", "certificates"}
    assert (ROOT / "docs/deploy/Caddyfile").exists()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("docker-compose"), reason="no docker-compose here")
def test_the_compose_file_is_what_its_parser_takes(tmp_path):
    shutil.copy(ROOT / "compose.yaml", tmp_path)
    env = (DEPLOY / "genie.env").read_text("utf-8")
    words = "docker-compose --env-file genie.env --profile several config --services"
    for password, status in (("p", 0), ("", 1)):  # a forgotten password is refused
        given = re.sub(
            "^(GENIE_DATABASE_PASSWORD=)$", rf"\g<1>{password}", env, flags=re.M
        )
        (tmp_path / "genie.env").write_text(given)
        found = subprocess.run(
            words.split(), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert found.returncode == status, found.stderr
        assert set(found.stdout.split()) == (
            set() if status else {*COMPOSE["services"]}
        )


def test_the_settings_are_those_that_the_check_for_production_accepts():
    page = (ROOT / "docs/operating.md").read_text("utf-8")
    block = page.split("## In production", 1)[1].split("\n## ", 1)[0]
    accepted = dict(re.findall(r"^([A-Z_]+)=(\S+)$", block, re.M))
    text = (DEPLOY / "genie.env").read_text("utf-8")
    shown = dict(re.findall(r"^([A-Z_]+)=(.*)$", text, re.M))
    own = {"GENIE_SECRET_KEY", "GENIE_DATABASE_PASSWORD"}
    assert {name for name, value in shown.items() if not value} == own
    elsewhere = {"GENIE_SECRET_KEY_FILE", "GENIE_VAR", "DATABASE_URL"}
    assert {k: v for k, v in shown.items() if k not in own} == {
        k: v for k, v in accepted.items() if k not in elsewhere
    }


def test_the_proxy_asks_the_site_and_lets_whole_uploads_through():
    text = (DEPLOY / "Caddyfile").read_text("utf-8")
    most = max(int(one) for one in re.findall(r"max_size (\d+)MB", text))
    assert most > settings.GENIE["MAX_UPLOAD_BYTES"] >> 20
    nginx = (DEPLOY / "nginx.conf").read_text("utf-8")
    assert f"client_max_body_size {most}m;" in nginx
    # both let the same addresses take files
    paths = re.findall(r"@(?:files|pages not) path (.+)", text)
    assert len(set(paths)) == 1
    proxy, web = (COMPOSE["services"][name] for name in ("proxy", "web"))
    assert proxy["env_file"] == "genie.env"
    upstream = proxy["environment"]["GENIE_UPSTREAM"]
    upstream = upstream.removeprefix("${GENIE_UPSTREAM:-").removesuffix("}")
    name, _, port = upstream.partition(":")
    assert web["command"][web["command"].index("--bind") + 1].endswith(f":{port}")
    assert name in COMPOSE["services"]
    assert proxy["environment"]["GENIE_CADDY"] == "2.7"  # of the image
    assert "./docs/deploy/Caddyfile:/etc/caddy/Caddyfile:ro" in proxy["volumes"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda p: p.name)
def test_units_are_sound(unit, tmp_path):
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(unit)
    assert parser["Service"]["User"] == "genie"
    assert parser["Service"]["EnvironmentFile"] == "/etc/genie.env"
    if not shutil.which("systemd-analyze"):
        return
    # as if all were installed: systemd looks for the programs
    for other in UNITS:
        text = other.read_text("utf-8").replace("/opt/genie/bin/", "/usr/bin/env ")
        (tmp_path / other.name).write_text(text)
    told = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
         str(tmp_path / unit.name)],
        capture_output=True, text=True, check=False,
    ).stderr  # fmt: skip
    assert unit.name not in told
    words = ["systemd-analyze", "security", "--offline=true", "--threshold=30"]
    found = subprocess.run([*words, unit], capture_output=True, text=True, check=False)
    print(found.stdout[found.stdout.rfind("Overall") :])
    assert found.returncode == 0


def test_the_proxy_waits_longer_for_a_restarted_site_than_it_leaves_it_out():
    text = (ROOT / "docs/deploy/Caddyfile").read_text("utf-8")
    waits, left_out = re.findall(r"(?:try|fail)_duration (\d+)s", text)
    assert int(left_out) < int(waits)
