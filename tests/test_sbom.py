"""What Genie is made of: every package pinned, with a license that is not copyleft."""

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from io import BytesIO
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def sbom():
    spec = spec_from_file_location("sbom", ROOT / ".ci/sbom.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_that_a_site_needs_is_in_it_with_sums_and_licenses(sbom, tmp_path):
    assert sbom.main([str(tmp_path / "a.json")]) == 0
    made = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    names = {one["name"] for one in made["components"]}
    direct = (ROOT / "requirements/base.in").read_text("utf-8")
    asked = {re.match(r"[\w-]+", line)[0] for line in direct.split()}
    assert asked - names == set()
    for one in made["components"]:
        assert one["licenses"]
        assert all(len(each["content"]) == 64 for each in one["hashes"])
    assert made == sbom.bill()


@pytest.mark.parametrize(
    ("said", "binds"),
    [
        (["MIT"], False),
        (["GPL-3.0-or-later"], True),
        (["GNU General Public License v3 (GPLv3)"], True),
        (["GNU Lesser General Public License v3 (LGPLv3)"], False),
        (["LGPL-3.0-only"], False),
        (["AGPL-3.0"], True),
        (["GPL-2.0 OR MIT"], False),
        (["GPL-2.0", "BSD License"], False),
        ([], True),
        ([""], True),
    ],
)
def test_copyleft_licenses_are_recognized(sbom, said, binds):
    assert sbom.is_copyleft(said) is binds


def test_advisories_are_told_and_their_absence_too(sbom, tmp_path, monkeypatch, capsys):
    n = len(sbom.bill()["components"])
    results = [{}] * (n - 1) + [{"vulns": [{"id": "GHSA-1"}, {"id": "CVE-2"}]}]
    asked = []

    def answers(request, timeout):
        asked.append(json.loads(request.data))
        return BytesIO(json.dumps({"results": results}).encode())

    monkeypatch.setattr(sbom.urllib.request, "urlopen", answers)
    arguments = ["--audit", str(tmp_path / "a.json")]
    assert sbom.main(arguments) == 1
    assert ": GHSA-1, CVE-2" in capsys.readouterr().out
    assert {"package"} == set(asked[0]["queries"][0])

    def silent(request, timeout):
        raise OSError("no route")

    monkeypatch.setattr(sbom.urllib.request, "urlopen", silent)
    assert sbom.main(arguments) == 0
    assert "osv.dev did not answer (no route)" in capsys.readouterr().out
