"""Offline metrics of recommenders and classifiers: every number with its convention and with who was counted."""

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.load import load
from recmetrics.presets import PRESETS
from recmetrics.results import Finding, Report

__all__ = ["PRESETS", "Dataset", "EvalConfig", "Finding", "RecmetricsError", "Report", "load"]
