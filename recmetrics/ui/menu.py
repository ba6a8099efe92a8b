"""The pages there are: the one list from which menu, titles and links are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recmetrics.text import N_

Section = Literal["start", "measure", "explain", "share"]
SECTIONS: dict[Section, str] = {
    "start": N_("Start"),
    "measure": N_("Measure"),
    "explain": N_("Explain"),
    "share": N_("Share and learn"),
}


@dataclass(frozen=True)
class Entry:
    """One page: its name in code, its file, its place in the menu, its title, the question it answers, its views.

    `views` are ids with their labels; the first is the default.
    """

    name: str
    file: str
    section: Section
    title: str
    question: str
    icon: str
    views: tuple[tuple[str, str], ...] = ()


MENU: tuple[Entry, ...] = (
    Entry("home", "app.py", "start", N_("Home"), N_("What do you want to find out?"), ":material/home:"),
    Entry(
        "data",
        "pages/10_Data.py",
        "start",
        N_("Data"),
        N_("Is this the data you think it is?"),
        ":material/table_view:",
        (
            ("source", N_("Source")),
            ("mapping", N_("Mapping")),
            ("facts", N_("Declared facts")),
            ("quality", N_("Quality")),
        ),
    ),
    Entry(
        "overview",
        "pages/20_Overview.py",
        "measure",
        N_("Overview"),
        N_("Can I quote these numbers, and what do they say?"),
        ":material/dashboard:",
    ),
    Entry(
        "threshold",
        "pages/30_Threshold.py",
        "measure",
        N_("Threshold"),
        N_("Which score should decide?"),
        ":material/tune:",
    ),
    Entry(
        "ranking",
        "pages/40_Ranking.py",
        "measure",
        N_("Ranking @K"),
        N_("How good are the first K?"),
        ":material/format_list_numbered:",
        (("curves", N_("Curves")), ("users", N_("Users"))),
    ),
    Entry(
        "diagnose",
        "pages/50_Diagnose.py",
        "explain",
        N_("Diagnose"),
        N_("What is wrong, and how do I know?"),
        ":material/troubleshoot:",
    ),
    Entry(
        "segments",
        "pages/70_Segments.py",
        "explain",
        N_("Segments"),
        N_("Where does it fail?"),
        ":material/donut_small:",
    ),
    Entry(
        "learn",
        "pages/110_Learn.py",
        "share",
        N_("Learn"),
        N_("What does this number mean?"),
        ":material/school:",
    ),
)


def entry(name: str) -> Entry:
    """Return the page with this name; KeyError when a page is not in the menu, which is a fault of ours."""
    return {page.name: page for page in MENU}[name]
