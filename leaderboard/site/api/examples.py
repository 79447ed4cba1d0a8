import json
import re
import shlex
from typing import Any

# Values of path parameters, and of fields in a form that sends a file.
_IN_PATH = {"slug": "demo-qa", "id": "17", "number": "1"}
_FIELDS = {
    "file": "@predictions.json",
    "name": "MyScore",
    "system_name": "My-System",
    "task": "demo-qa",
}


def example_answer(answer: dict[str, Any]) -> str:
    for kind, content in answer.get("content", {}).items():
        if "json" in kind and "example" in content:
            return json.dumps(content["example"], indent=2, ensure_ascii=False)
    return ""


def example_request(
    schema: dict[str, Any], path: str, method: str, operation: dict[str, Any]
) -> str:
    words = ["curl"]
    if {} not in operation.get("security", [{}]):
        words.append('-H "Authorization: Bearer $GENIE_TOKEN"')
    if method not in ("get", "post"):
        words.append(f"-X {method.upper()}")
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        body = json.dumps(content["application/json"].get("example", {}))
        words.append(f"--json {shlex.quote(body)}")
    elif "multipart/form-data" in content:
        shape = resolved(schema, content["multipart/form-data"]["schema"])
        words += [f"-F {one}={_FIELDS.get(one, '...')}" for one in shape["required"]]
    elif method == "post":
        words.append("-X POST")
    filled = re.sub(r"{(\w+)}", lambda found: _IN_PATH.get(found[1], "1"), path)
    return " ".join(words) + " {base}" + filled


def resolved(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        name = part["$ref"].rsplit("/", 1)[-1]
        part = schema["components"]["schemas"][name]
    return part
