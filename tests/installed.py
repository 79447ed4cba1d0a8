"""Genie as others have it: a wheel, installed into an environment without the source tree."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Installed(NamedTuple):
    """An environment, and the wheel that was installed into it."""

    wheel: Path
    bin: Path

    @property
    def genie(self) -> str:
        return str(self.bin / "genie")


def tracked() -> list[str]:
    """List the files that a checkout has; links are files."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.split("\0")
    return [name for name in listed if name and (ROOT / name).exists()]


def install(folder: Path) -> Installed:
    """Build a wheel of what a checkout has and install it.

    The packages that it needs are those of the tests' own environment: neither step asks
    a package index.
    """
    wheel = build(ROOT, tracked(), folder / "source", folder / "wheel")
    environment = folder / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    others = [path for path in sys.path if path.endswith("site-packages")]
    (site_packages(python) / "others.pth").write_text("\n".join(others))
    pip("install", "--no-deps", "--no-compile", "--ignore-installed", wheel, to=python)
    return Installed(wheel, environment / "bin")


def build(root: Path, names: list[str], copy: Path, into: Path) -> Path:
    """Build a wheel of some files: setuptools leaves folders behind in what it builds."""
    for name in names:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, copy / name, follow_symlinks=False)
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", into, copy)
    (wheel,) = into.glob("*.whl")
    return wheel


def site_packages(python: Path) -> Path:
    (found,) = python.parent.parent.glob("lib/python*/site-packages")
    return found


def pip(command: str, *words: object, to: Path | None = None) -> None:
    chosen = ["--python", str(to)] if to else []
    subprocess.run(
        [sys.executable, "-m", "pip", *chosen, command, "--quiet", "--no-index",
         "--disable-pip-version-check", *map(str, words)],
        env={**os.environ, "PYTHONPATH": ""}, check=True,
    )  # fmt: skip
