"""The questions of the Human Evaluation Datasheet, by their numbers, in short.

References
----------
Belz and Thomson, HEDS 3.0: The Human Evaluation Data Sheet Version 3.0, GEM 2025
(arXiv 2412.07940). The numbers are those of its form, nlp-heds.github.io, as stored on
23 November 2026; those of 5.3 and 5.4, which lay beyond what we read there, are the
paper's and stand as in HEDS 2.0 (Shimorina and Belz 2022).
"""

from __future__ import annotations

VERSION = "HEDS 3.0"

QUESTIONS = {
    "1.1.1": "Main reference of the evaluation",
    "1.1.2": "Which experiment this sheet is about",
    "1.2": "Resources of the evaluation",
    "1.3.1.1": "Name of the person who completed this sheet",
    "1.3.1.2": "Their affiliation",
    "1.3.1.3": "Their e-mail address",
    "1.3.2.1": "Name of the contact author",
    "1.3.2.2": "Their affiliation",
    "1.3.2.3": "Their e-mail address",
    "2.1": "Input of the systems",
    "2.2": "Output of the systems",
    "2.3": "Task of the systems",
    "2.4": "Languages of the input",
    "2.5": "Languages of the output",
    "3.1.1": "Number of outputs evaluated per system",
    "3.1.2": "How they were selected",
    "3.1.3.1": "Method of the power analysis",
    "3.1.3.2": "Statistical power of the sample",
    "3.1.3.3": "Code of the power analysis",
    "3.2.1": "Number of evaluators",
    "3.2.2.1": "Whether they are domain experts",
    "3.2.2.2": "Whether they were paid",
    "3.2.2.3": "Whether any were known to the authors",
    "3.2.2.4": "Whether any researchers were among them",
    "3.2.3": "How they were recruited",
    "3.2.4": "Their training and practice",
    "3.2.5": "What else is known about them",
    "3.3.1": "Preregistration",
    "3.3.2": "Medium of the responses",
    "3.3.3.1": "Types of quality assurance",
    "3.3.3.2": "Methods of quality assurance",
    "3.3.4.1": "Where the form can be seen",
    "3.3.4.2": "What evaluators were shown",
    "3.3.5": "When and how quickly they worked",
    "3.3.6": "Whether they could ask and comment",
    "3.3.7": "Conditions in which they worked",
    "3.3.8": "How these conditions varied",
    "5.1": "Approval by a research ethics committee",
    "5.2": "Personal data",
    "5.3": "Special category information",
    "5.4": "Impact assessments",
}
# These are answered for each criterion.
OF_A_CRITERION = {
    "4.1.1": "Type of quality",
    "4.1.2": "Aspect of the outputs",
    "4.1.3": "Frame of reference",
    "4.2.1": "Objective or subjective",
    "4.2.2": "Absolute or relative",
    "4.2.3": "Intrinsic or extrinsic",
    "4.3.1.1": "Name of the criterion for evaluators",
    "4.3.1.2": "Its standardised name",
    "4.3.2": "Its definition for evaluators",
    "4.3.3": "Size of the scale",
    "4.3.4": "Values of the scale",
    "4.3.5": "How the scale was presented",
    "4.3.6": "Task, if there is no rating instrument",
    "4.3.7": "Question shown to evaluators, verbatim",
    "4.3.8": "Form of response elicitation",
    "4.3.9": "From raw responses to scores",
    "4.3.10": "Effect size and significance",
    "4.3.11.1": "Method of agreement between evaluators",
    "4.3.11.2": "Agreement between evaluators",
    "4.3.12.1": "Method of agreement within evaluators",
    "4.3.12.2": "Agreement within evaluators",
}
