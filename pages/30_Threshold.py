"""Threshold: which score should decide?"""

from recmetrics.ui.page import page
from recmetrics.ui.views import threshold

frame = page("threshold")
threshold.operate(frame)
