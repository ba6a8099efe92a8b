"""Segments:segments."""

from recmetrics.ui.page import page

frame = page("segments")
