"""Offline metrics of recommenders and classifiers: every number with its convention and with who was counted."""

from recmetrics.checks import CHECKS
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.diagnose import diagnose
from recmetrics.errors import RecmetricsError
from recmetrics.evaluate import evaluate
from recmetrics.load import load
from recmetrics.metrics import METRICS
from recmetrics.presets import PRESETS
from recmetrics.results import Finding, Report

# `evaluate`, `diagnose` and `load` are functions here and modules below; importing them here, once and at the top, is
# what makes `recmetrics.evaluate` the function for good.
__all__ = [
    "CHECKS",
    "METRICS",
    "PRESETS",
    "Dataset",
    "EvalConfig",
    "Finding",
    "RecmetricsError",
    "Report",
    "diagnose",
    "evaluate",
    "load",
]
