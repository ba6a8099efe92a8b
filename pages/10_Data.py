"""Data: what was read, and as what."""

from recmetrics.ui.page import page

frame = page("data", needs_data=False)
