"""Engines turn rows into the two tables. All engines give identical tables; the default is NumPy."""

from recmetrics.engines.base import ENGINES, Engine, RankTable
from recmetrics.engines.numpy_engine import NumpyEngine

__all__ = ["ENGINES", "Engine", "NumpyEngine", "RankTable"]
