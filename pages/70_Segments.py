"""Segments: where does it fail?"""

from recmetrics.ui.page import page
from recmetrics.ui.views.segments import segments

frame = page("segments")
segments(frame)
