"""Data: what was read, and as what."""

from recmetrics.ui import controls
from recmetrics.ui.page import page
from recmetrics.ui.views import data_facts, data_mapping, data_mend, data_open, data_quality

frame = page("data", needs_data=False)
view = controls.view("data", frame.text)
frame = data_mend.mend(frame, view)
if view == "source":
    data_open.source(frame)
elif view == "mapping":
    data_mapping.mapping(frame)
elif view == "facts":
    data_facts.facts(frame)
else:
    data_quality.quality(frame)
