"""The questions of the Human Evaluation Datasheet, by their numbers, in short.

References
----------
Shimorina and Belz, The Human Evaluation Datasheet: A Template for Recording Details of
Human Evaluation Experiments in NLP, HumEval 2022. The numbers are those of HEDS 2.0;
3.0 (Belz and Thomson 2024) keeps its five sections and divides some questions.
"""

from __future__ import annotations

VERSION = "HEDS 2.0"

QUESTIONS = {
    "1.1": "Paper that reports the evaluation",
    "1.2": "Resources of the evaluation",
    "1.3": "Who completed this sheet",
    "2.1": "Input of the systems",
    "2.2": "Output of the systems",
    "2.3": "Task of the systems",
    "2.4": "Languages of the input",
    "2.5": "Languages of the output",
    "3.1.1": "Number of outputs evaluated per system",
    "3.1.2": "How they were selected",
    "3.1.3": "Statistical power of the sample",
    "3.2.1": "Number of evaluators",
    "3.2.2": "Kind of evaluators",
    "3.2.3": "How they were recruited",
    "3.2.4": "Their training and practice",
    "3.2.5": "What else is known about them",
    "3.3.1": "Preregistration",
    "3.3.2": "How responses were collected",
    "3.3.3": "Quality assurance",
    "3.3.4": "What evaluators saw",
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
    "4.3.1": "Name of the criterion for evaluators",
    "4.3.2": "Its definition for evaluators",
    "4.3.3": "Size of the scale",
    "4.3.4": "Values of the scale",
    "4.3.5": "How the scale was presented",
    "4.3.6": "Task, if there is no rating instrument",
    "4.3.7": "Question shown to evaluators, verbatim",
    "4.3.8": "Form of response elicitation",
    "4.3.9": "From raw responses to scores",
    "4.3.10": "Effect size and significance",
    "4.3.11": "Agreement of evaluators",
}
