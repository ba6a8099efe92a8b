"""Threshold:threshold."""

from recmetrics.ui.page import page

frame = page("threshold")
