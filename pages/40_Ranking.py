"""Ranking @K: how good are the first K?"""

from recmetrics.ui import controls
from recmetrics.ui.page import page
from recmetrics.ui.views import ranking, ranking_users

frame = page("ranking")
view = controls.view("ranking", frame.text)
if view == "users":
    ranking_users.users(frame)
else:
    ranking.curves(frame)
