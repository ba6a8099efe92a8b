"""Diagnose: what is wrong, and how do I know?"""

from recmetrics.ui.page import page
from recmetrics.ui.views.diagnose import findings

frame = page("diagnose", needs_treatment=False)
findings(frame)
