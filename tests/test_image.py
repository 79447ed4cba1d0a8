"""The Dockerfile's steps on a bare folder, line by line, where no builder is at hand.

Only what needs another machine is left to it: the package manager and the accounts of the
system are stand-ins that write down what they were asked for, and pip finds the hashed
requirements installed instead of fetching them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from genie.lib.serving.processes import answers
from tests.installed import ROOT, site_packages, tracked
from tests.test_demo import free_port, stopped_at_the_end
from tests.test_deploy import dockerfile

USER = 10001


class Image:
    """A folder that stands for an image's root, and a user who owns none of it."""

    def __init__(self, root: Path) -> None:
        self.root, self.asked = root, root / "asked"
        self.cwd = root
        self.variables: dict[str, str] = {}
        # An account that may write nowhere else; tests often run as root, whose home has
        # the interpreter, so it may read.
        self.as_user = [
            *("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"),
            *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
        ]
        as_root = os.geteuid() == 0 and shutil.which("setpriv")
        if (
            not as_root
            or subprocess.run([*self.as_user, "true"], check=False).returncode
        ):
            self.as_user = []
        venv.create(root / "usr", with_pip=False, symlinks=True)
        python = root / "usr/bin/python"
        others = [path for path in sys.path if path.endswith("site-packages")]
        (site_packages(python) / "others.pth").write_text("\n".join(others))
        self.stand_in("pip", f'exec "{python}" -m pip "$@"')
        for name in ("apt-get", "useradd"):
            self.stand_in(name, f'echo {name} "$@" >> "{self.asked}"')
        self.stand_in("install", 'shift 5; mkdir -p "$1"; chmod 777 "$1"')

    def stand_in(self, name: str, line: str) -> None:
        path = self.root / "usr/bin" / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def inside(self, words: str) -> str:
        return re.sub(
            r"(?<![\w.])/(source|wheels|requirements\.txt|servers\.txt|var/lib)\b",
            rf"{self.root}/\1",
            words,
        )

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.root / 'usr/bin'}:/usr/local/bin:/usr/bin:/bin",
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # which switches it off
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_QUIET": "2",
            **self.variables,
        }

    def step(self, name: str, words: str) -> None:
        if name == "RUN":
            line = re.sub(r"^\s*--mount=\S+\s+", "", self.inside(words))
            subprocess.run(
                ["sh", "-ec", line], cwd=self.cwd, env=self.environment(), check=True
            )
        elif name == "COPY":
            source, target = words.split()
            self.copy(source, Path(self.inside(target)))
        elif name == "WORKDIR":
            self.cwd = Path(self.inside(words))
        elif name == "ENV":
            pairs = (pair.split("=", 1) for pair in words.split())
            self.variables |= {key: self.inside(value) for key, value in pairs}

    def copy(self, source: str, target: Path) -> None:
        if source != ".":
            shutil.copy(ROOT / source, target)
            return
        for name in tracked():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name, follow_symlinks=False)


@pytest.mark.slow
def test_every_step_of_the_image_runs_and_ends_with_a_healthy_site(tmp_path_factory):
    root = tmp_path_factory.mktemp("image")
    image = Image(root)
    for name, words in dockerfile():
        image.step(name, words)
    steps = dict(dockerfile())
    asked = image.asked.read_text().splitlines()
    assert [line.split()[:2] for line in asked] == [
        ["apt-get", "update"],
        ["apt-get", "install"],
        ["useradd", "--system"],
    ]
    assert f"--uid {USER} " in asked[-1]
    port = str(free_port())
    program, *words = json.loads(steps["CMD"])
    healthy = json.loads(steps["HEALTHCHECK"].partition("CMD ")[2])[-1]
    assert healthy.count(":8000") == 1
    words = [*("127.0.0.1" if word == "0.0.0.0" else word for word in words)]
    log = (root / "log").open("w")
    with log, stopped_at_the_end(
        subprocess.Popen(
            [*image.as_user, root / "usr/bin" / program, *words, "--port", port],
            cwd=image.cwd, env=image.environment(), stdout=log, stderr=log,
        )
    ):  # fmt: skip
        assert answers(f"http://127.0.0.1:{port}/healthz"), (root / "log").read_text()
        subprocess.run(
            [*image.as_user, root / "usr/bin/python", "-c",
             healthy.replace(":8000", f":{port}")],
            env=image.environment(), check=True,
        )  # fmt: skip
    data = root / "var/lib/genie"
    assert (data / "genie.sqlite3").exists()
    if image.as_user:
        assert {path.stat().st_uid for path in data.iterdir()} == {USER}
