"""Diagnose:diagnose."""

from recmetrics.ui.page import page

frame = page("diagnose")
