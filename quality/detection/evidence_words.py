"""Plain sentences about the evidence of a verdict."""

from collections.abc import Mapping
from typing import Any

# The subject of each part of the evidence, and its sentence if it counts against a
# worker.
_ABOUT = {
    "tests": "test questions",
    "ratings": "ratings of real items",
    "order": "a change in the middle of the answers",
}
#: Evidence weaker than this (log-odds, either way) is ignored.
_SILENT = 0.7
_STRONG = 3.0


def told(parts: Mapping[str, Any], p_careless: float, threshold: float) -> str:
    """Describe how probable it is that a worker is careless, and why.

    Parameters
    ----------
    parts : mapping
        `tests`: label, right and asked of each kind of question; `odds`: log-odds by
        kind of evidence; `class`: the most probable kind of worker; `beside`: facts
        that are shown and not counted.
    """
    above = "above" if p_careless > threshold else "not above"
    sentences = [
        f"Probability of being careless {p_careless:.4f}, {above} {threshold:g}."
    ]
    tests = [
        f"{right} of {asked} {label}" for label, right, asked in parts.get("tests", ())
    ]
    if tests:
        sentences.append(f"Test questions right: {', '.join(tests)}.")
    sentences += [
        f"{_strength(odds)} {_ABOUT.get(name, name)}."
        for name, odds in parts.get("odds", {}).items()
        if abs(odds) > _SILENT
    ]
    if p_careless > threshold and parts.get("class"):
        sentences.append(f"Closest pattern: {parts['class']}.")
    sentences += [f"Shown, not counted: {fact}." for fact in parts.get("beside", ())]
    return " ".join(sentences)


def _strength(odds: float) -> str:
    direction = "Against the worker" if odds > 0 else "In the worker's favour"
    return f"{direction}, {'strongly' if abs(odds) > _STRONG else 'somewhat'}:"
