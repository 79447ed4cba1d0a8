"""The data that an item needs for a template to render it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TYPES = ("text", "texts", "language", "outputs", "number")
SLOT = re.compile(r"[A-Z][A-Z0-9]{0,7}", re.ASCII)


@dataclass(frozen=True)
class Field:
    name: str
    type: str
    required: bool

    def problem(self, value: Any) -> str:
        if value is None:
            return "is missing" if self.required else ""
        if self.type == "texts":
            return _texts_problem(value, self.required)
        if self.type == "outputs":
            return _outputs_problem(value)
        if self.type == "number":
            return _number_problem(value)
        return "" if isinstance(value, str) else "is not a string"


def read_fields(config: Mapping[str, Mapping[str, Any]]) -> tuple[Field, ...]:
    fields = tuple(
        Field(name, str(of["type"]), bool(of.get("required", True)))
        for name, of in config.items()
    )
    for field in fields:
        if field.type not in TYPES:
            raise ValueError(
                f"{field.name} has the unknown type {field.type!r}; choose from "
                f"{', '.join(TYPES)}"
            )
    return fields


def _texts_problem(value: Any, required: bool) -> str:
    if not isinstance(value, list):
        return "is not a list of labelled texts"
    if required and not value:
        return "is empty"
    for part in value:
        if not isinstance(part, Mapping):
            return "contains something that is not a text with a label"
        if not all(isinstance(part.get(name), str) for name in ("label", "text")):
            return "contains an entry without a label or a text"
    return ""


def _outputs_problem(value: Any) -> str:
    if not isinstance(value, list) or len(value) < 2:
        return "is not a list of at least two outputs"
    slots = []
    for part in value:
        if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
            return "contains something that is not an output with a text"
        slot = part.get("slot")
        if not isinstance(slot, str) or not SLOT.fullmatch(slot):
            return "contains an output without a slot such as A"
        slots.append(slot)
    return "" if len(set(slots)) == len(slots) else "has two outputs in the same slot"


def _number_problem(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "is not a number"
    return "" if math.isfinite(value) and value > 0 else "is not a positive number"
