"""Write down what Genie is made of (CycloneDX), refuse licences that bind, ask for advisories.

``python .ci/sbom.py FILE`` needs no network: it reads requirements/*.txt and the metadata
of what is installed. ``python .ci/sbom.py --audit FILE`` sends names and versions, and
nothing else, to osv.dev; where that does not answer it says so, which is no failure.
"""

import json
import re
import sys
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ADVISORIES = "https://api.osv.dev/v1/querybatch"
_PIN = re.compile(r"^([\w.-]+)==(\S+)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy"
# Whoever passes these on must pass on their own code under the same terms.
_BINDS = re.compile(
    r"(?<!lesser )(?<!library )general public|(?<!l)gpl|affero|sspl", re.I
)


def pinned(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Give name, version and hashes of each package of a requirements file."""
    for name, version, rest in _PIN.findall(text):
        yield name, version, _HASH.findall(rest)


def licences(name: str) -> list[str]:
    """Give what a package says of its licence: an SPDX expression, or names."""
    about = distribution(name).metadata
    if expression := about.get("License-Expression"):
        return [expression]
    classes = [
        one for one in about.get_all("Classifier", []) if one.startswith("License")
    ]
    if named := [one.rpartition(" :: ")[2] for one in classes if one.count("::") > 1]:
        return named
    if named := (about.get("License") or "").splitlines()[:1]:
        return [line.strip() for line in named]
    # some say nothing and bring the text along
    return ["MIT"] if any(_MIT in text for text in _licence_files(name)) else []


def _licence_files(name: str) -> Iterator[str]:
    for path in distribution(name).files or ():
        if "licenses" in path.parts:
            # lines break where they like
            yield " ".join(path.read_text("utf-8").split())


def binding(found: Iterable[str]) -> bool:
    """Tell whether all licences that one could choose from bind, or there is none."""
    choices = [
        one for text in found for one in re.split(r"\bOR\b", text) if one.strip()
    ]
    return all(_BINDS.search(one) for one in choices)


def bill() -> dict[str, Any]:
    """Make the bill of materials of what a site installs, the same for the same files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    components = []
    # of several versions, for several Pythons, the one that is installed
    for name, version, hashes in pinned(
        "".join(
            (ROOT / "requirements" / file).read_text("utf-8")
            for file in ("base.txt", "postgres.txt")
        )
    ):
        try:
            if distribution(name).version != version:
                continue
        except PackageNotFoundError:  # of another system
            continue
        address = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
        components.append({
            "type": "library", "bom-ref": address, "name": name, "version": version,
            "purl": address,
            "licenses": [{"license": {"name": one}} for one in licences(name)],
            "hashes": [{"alg": "SHA-256", "content": one} for one in hashes],
        })  # fmt: skip
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "name": project["name"],
                "version": project["version"],
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": components,
    }  # fmt: skip


def audit(components: list[dict[str, Any]]) -> list[str]:
    """Give what is published against the packages; OSError where nobody answers."""
    queries = [{"package": {"purl": one["purl"]}} for one in components]
    request = urllib.request.Request(
        ADVISORIES, json.dumps({"queries": queries}).encode()
    )
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
        results = json.load(answer)["results"]
    return [
        f"{one['purl']}: {', '.join(vulnerability['id'] for vulnerability in found)}"
        for one, result in zip(components, results, strict=True)
        if (found := result.get("vulns"))
    ]


def main(arguments: list[str]) -> int:
    """Write the bill and look at licences, and at advisories where asked for."""
    made = bill()
    components = made["components"]
    Path(arguments[-1]).write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    wrong = [
        f"{one['purl']}: licence {[entry['license']['name'] for entry in one['licenses']]}"
        for one in components
        if binding(entry["license"]["name"] for entry in one["licenses"])
    ]
    said = f"{len(components)} packages in {arguments[-1]}"
    if "--audit" in arguments:
        try:
            wrong += audit(components)
            said += ", compared with the advisories of osv.dev"
        except (OSError, ValueError, KeyError) as error:
            said += f"; not compared with advisories: osv.dev did not answer ({error})"
    sys.stdout.write("\n".join([said, *wrong, ""]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
