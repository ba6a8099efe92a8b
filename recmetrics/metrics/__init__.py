"""The catalogue of metrics. Importing it registers all of them; a new metric is one decorated function."""

from recmetrics.metrics import business, calibration, classification, exposure, per_user_auc, ranking
from recmetrics.metrics.base import METRICS, Measured, Metric
from recmetrics.metrics.names import MetricName, asked_for, canonical, parse_metric

__all__ = [
    "METRICS",
    "Measured",
    "Metric",
    "MetricName",
    "asked_for",
    "business",
    "calibration",
    "canonical",
    "classification",
    "exposure",
    "parse_metric",
    "per_user_auc",
    "ranking",
]
