"""The convention with the threshold of the Threshold page, whatever the unit in which it was asked for."""

from __future__ import annotations

import math

from recmetrics.config import EvalConfig
from recmetrics.ui import decision
from recmetrics.ui.page import Frame


def config_at_threshold(frame: Frame) -> EvalConfig:
    """Return the convention with the current score threshold; unchanged where the point is a rule per user."""
    threshold = decision.current_point(decision.decision(frame)).threshold
    if threshold is None or not math.isfinite(threshold):
        return frame.config
    return frame.config.replace(threshold=threshold)


def was_chosen(frame: Frame) -> bool:
    """Whether the user chose a threshold, rather than being shown one to start from."""
    return bool(frame.state.mode) and frame.state.value is not None
