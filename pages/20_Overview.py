"""Overview:overview."""

from recmetrics.ui.page import page

frame = page("overview")
