"""Ranking:ranking."""

from recmetrics.ui.page import page

frame = page("ranking")
