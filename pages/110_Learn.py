"""Learn:learn."""

from recmetrics.ui.page import page

frame = page("learn", needs_data=False)
