"""One decision point, asked for in six ways: score, share of rows, top K per user, precision, recall, cost ratio.

`position_table` is made once per ScoreTable; `solve` only looks things up in it, so that a slider may call it per move.
"""

from recmetrics.operating_point.positions import (
    COST_RATIOS,
    MODES,
    Mode,
    PositionTable,
    ladder,
    position_table,
    top_k_table,
)
from recmetrics.operating_point.solving import PRESETS, OperatingPoint, default_choice, preset, solve, value_in

__all__ = [
    "COST_RATIOS",
    "MODES",
    "PRESETS",
    "Mode",
    "OperatingPoint",
    "PositionTable",
    "default_choice",
    "ladder",
    "position_table",
    "preset",
    "solve",
    "top_k_table",
    "value_in",
]
