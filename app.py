"""Home: four doors, what is loaded, and what it says."""

from recmetrics.ui.page import page
from recmetrics.ui.views import home

frame = page("home", needs_data=False)
home.doors(frame)
home.stage(frame)
home.loaded(frame)
home.samples(frame)
home.limits(frame)
