"""`python -m recmetrics.cli` is `recmetrics`."""

from recmetrics.cli import main

main()
