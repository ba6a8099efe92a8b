"""Overview: can I quote these numbers, and what do they say?"""

from recmetrics.ui.page import page
from recmetrics.ui.views import overview

frame = page("overview")
overview.draw(frame)
