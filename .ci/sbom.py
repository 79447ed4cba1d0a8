"""Write a bill of materials (CycloneDX), refuse copyleft licenses, check for advisories.

``python .ci/sbom.py FILE`` needs no network: it reads requirements/*.txt and the metadata
of installed packages. ``python .ci/sbom.py --audit FILE`` sends only names and versions
to osv.dev; if there is no answer, it reports this but does not fail.
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
# These licenses require derived works to have the same license.
_BINDS = re.compile(
    r"(?<!lesser )(?<!library )general public|(?<!l)gpl|affero|sspl", re.I
)


def read_pins(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield name, version and hashes of each package in a requirements file."""
    for name, version, rest in _PIN.findall(text):
        yield name, version, _HASH.findall(rest)


def licenses(name: str) -> list[str]:
    """Return a package's license as an SPDX expression or names."""
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
    # Some packages only include the text.
    return ["MIT"] if any(_MIT in text for text in _license_files(name)) else []


def _license_files(name: str) -> Iterator[str]:
    for path in distribution(name).files or ():
        if "licenses" in path.parts:
            yield " ".join(path.read_text("utf-8").split())


def is_copyleft(found: Iterable[str]) -> bool:
    """Check whether there is no license to choose that is not copyleft."""
    choices = [
        one for text in found for one in re.split(r"\bOR\b", text) if one.strip()
    ]
    return all(_BINDS.search(one) for one in choices)


def bill() -> dict[str, Any]:
    """Return the bill of materials of a site's packages, the same for the same files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    components = []
    # Of several versions for different Pythons, only the installed one counts.
    for name, version, hashes in read_pins(
        "".join(
            (ROOT / "requirements" / file).read_text("utf-8")
            for file in ("base.txt", "servers.txt")
        )
    ):
        try:
            if distribution(name).version != version:
                continue
        except PackageNotFoundError:  # for a different system
            continue
        address = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
        components.append({
            "type": "library", "bom-ref": address, "name": name, "version": version,
            "purl": address,
            "licenses": [{"license": {"name": one}} for one in licenses(name)],
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
    """Return published advisories; raise OSError without an answer."""
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
    """Write the bill, and check licenses and (with --audit) advisories."""
    made = bill()
    components = made["components"]
    Path(arguments[-1]).write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    wrong = [
        f"{one['purl']}: license {[entry['license']['name'] for entry in one['licenses']]}"
        for one in components
        if is_copyleft(entry["license"]["name"] for entry in one["licenses"])
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
