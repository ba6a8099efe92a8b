"""Learn: what every metric asks, how it is computed, and when it misleads."""

from recmetrics.ui.page import page
from recmetrics.ui.views.learn import glossary

frame = page("learn", needs_data=False)
glossary(frame)
