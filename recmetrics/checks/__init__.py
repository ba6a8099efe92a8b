"""The catalogue of checks: importing a module of this package registers what it holds."""

from recmetrics.checks import data, labels, leakage, lists, order, population, protocol, scores, threshold, users
from recmetrics.checks.base import CHECKS, Check, Limit, Part
from recmetrics.checks.options import DiagnoseOptions, Mute
from recmetrics.checks.suppression import EXPLANATIONS, Explanation

__all__ = [
    "CHECKS",
    "EXPLANATIONS",
    "Check",
    "DiagnoseOptions",
    "Explanation",
    "Limit",
    "Mute",
    "Part",
    "data",
    "labels",
    "leakage",
    "lists",
    "order",
    "population",
    "protocol",
    "scores",
    "threshold",
    "users",
]
