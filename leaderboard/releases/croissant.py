"""A release's content for machines: Croissant metadata in JSON-LD.

References
----------
MLCommons (2026), Croissant Format Specification 1.1; (2024) Croissant RAI 1.0.
"""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from leaderboard.evaluation.result_columns import columns_of
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.teams.selectors import absolute

FILE = "croissant.json"
# Number of rows that determine a column's type.
_LOOKED_AT = 500
_MEDIA = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".md": "text/markdown",
    ".ndjson": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
}
# The context that the specification requires in every file.
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    **{
        name: f"cr:{name}"
        for name in (
            *(
                "citeAs",
                "column",
                "equivalentProperty",
                "extract",
                "field",
                "fileObject",
                "fileProperty",
            ),
            *("fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key"),
            *("md5", "parentField", "path", "recordSet", "references", "regex"),
            *(
                "repeated",
                "replace",
                "samplingRate",
                "separator",
                "source",
                "subField",
                "transform",
            ),
        )
    },
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
}


def write(folder: Path) -> None:
    text = json.dumps(metadata(folder), indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", "utf-8")


def metadata(folder: Path) -> Record:
    manifest = bundle.read_manifest(folder)
    made = str(manifest["made_at"])
    judges = [row["signature"] for row in bundle.iter_table(folder, "judges")]
    programs = ", answers of judges (programs)" if judges else ""
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": str(manifest["task"]),
        "description": f"{manifest['title']}: systems, scores, judgments under "
        f"pseudonyms{programs} and metric scores, released by Genie {manifest['code_version']}.",
        # license of the texts; if unclear, in words
        "license": manifest["licence"] or "not stated",
        "url": manifest["homepage"] or absolute("leaderboard:board", manifest["task"]),
        "version": f"{made[:10].replace('-', '.')}",
        "datePublished": made[:10],
        **({"citeAs": manifest["citation"]} if manifest["citation"] else {}),
        **({"rai:machineAnnotationTools": judges} if judges else {}),
        **_responsible_ai(manifest),
        "distribution": [_file(path) for path in bundle.files(folder)],
        "recordSet": list(_tables(folder)),
    }


def _responsible_ai(manifest: Record) -> Record:
    human = manifest["config"].get("human", {})
    asked = " ".join(human.get("criteria", {}).values())
    source = manifest["imported"]
    pay = f"{human.get('reward_cents', 0)} cents for an assignment"
    n = manifest["counts"].get("judgments", 0)
    return {
        "rai:dataCollection": f"{n:,} ratings of systems' outputs"
        + (f", imported: {source}." if source else ", collected by Genie."),
        "rai:dataAnnotationProtocol": f"Design {human.get('design', '')}, scale "
        f"{human.get('scale', '')}. Asked: {asked}",
        "rai:dataAnnotationPlatform": "elsewhere" if source else human.get("platform"),
        "rai:annotatorDemographics": "Not asked. Pay: "
        + ("not known." if source else f"{pay}."),
        "rai:personalSensitiveInformation": "Raters have pseudonyms; names, addresses "
        "and accounts are left out.",
        "rai:dataBiases": "Raters choose the work themselves and are no sample of a "
        "population. Ratings of excluded raters are marked, not removed.",
        "rai:dataLimitations": f"{manifest['counts'].get('systems', 0):,} systems on "
        "one test set; README.md says what the intervals cover.",
        "rai:dataUseCases": "Comparing these systems, and testing metrics, judges and "
        "designs against people's ratings. Not for assessing raters.",
        "rai:dataSocialImpact": "Public ranks steer research; a rank holds for this "
        "task, question and crowd only.",
    }


def _file(path: Path) -> Record:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": _MEDIA.get(path.suffix, "application/octet-stream"),
        "sha256": bundle.sha256(path),
    }


def _tables(folder: Path) -> Iterator[Record]:
    for path in bundle.files(folder):
        if path.suffix != ".csv" or not path.with_suffix(".jsonl").is_file():
            continue
        with path.open(encoding="utf-8") as lines:
            columns = next(lines).rstrip("\n").split(",")
        rows = list(islice(bundle.iter_table(folder, path.stem), _LOOKED_AT))
        words = {
            column.name: {"description": column.description}
            for column in columns_of("release", path.stem)
        }
        yield {
            "@type": "cr:RecordSet",
            "@id": path.stem,
            "name": path.stem,
            "field": [
                {
                    "@type": "cr:Field",
                    "@id": f"{path.stem}/{column}",
                    "name": column,
                    **words.get(column, {}),
                    "dataType": _kind([row.get(column) for row in rows]),
                    "source": {
                        "fileObject": {"@id": path.name},
                        "extract": {"column": column},
                    },
                }
                for column in columns
            ],
        }


def _kind(values: list[Any]) -> str:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return "sc:Boolean"
    if known and all(isinstance(value, int) for value in known):
        return "sc:Integer"
    if known and all(isinstance(value, (int, float)) for value in known):
        return "sc:Float"
    return "sc:Text"
