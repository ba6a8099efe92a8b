"""Small tables and grids of printed numbers as HTML, for what changes with every move. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from recmetrics.metrics.confusion import Confusion
from recmetrics.text import N_, Text
from recmetrics.ui.views.readout import Tile, printed_rows


def tile_grid(tiles: Iterable[Tile]) -> str:
    """Return tiles as a list of terms: label, value, and what stands behind it."""
    cells = [
        f"<div><dt>{escape(tile.label)}</dt><dd><strong>{escape(tile.value)}</strong>"
        f"<small>{escape(tile.note)}</small></dd></div>"
        for tile in tiles
    ]
    return f"<dl>{''.join(cells)}</dl>"


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column names its rows."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def matrix(counts: Confusion, text: Text) -> str:
    """Return the confusion matrix: each cell with its count, its share of the row and its share of the column."""
    flagged, passed = (
        (counts.flagged, N_("{share} of flagged")),
        (counts.fn + counts.tn, N_("{share} of others")),
    )
    positive = (counts.positives, N_("{share} of positives"))
    negative = (counts.negatives, N_("{share} of negatives"))

    def cell(name: str, title: str, n: float, *wholes: tuple[float, str]) -> str:
        shares = [text._(template, share=text.percent(n / whole)) for whole, template in wholes if whole]
        lines = "".join(f"<small>{escape(share)}</small>" for share in shares)
        return f'<td><abbr title="{escape(title)}">{name}</abbr> <strong>{printed_rows(n, text)}</strong>{lines}</td>'

    def total(n: float) -> str:
        return f"<td>{printed_rows(n, text)}</td>"

    rows = [
        (
            text._("Positives"),
            cell("TP", text._("true positives"), counts.tp, positive, flagged)
            + cell("FN", text._("false negatives"), counts.fn, positive, passed)
            + total(counts.positives),
        ),
        (
            text._("Negatives"),
            cell("FP", text._("false positives"), counts.fp, negative, flagged)
            + cell("TN", text._("true negatives"), counts.tn, negative, passed)
            + total(counts.negatives),
        ),
        (text._("All rows"), total(flagged[0]) + total(passed[0]) + total(counts.n)),
    ]
    columns = (text._("Flagged"), text._("Not flagged"), text._("All"))
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>' for name, cells in rows)
    caption = escape(text._("Confusion matrix"))
    return f"<table><caption>{caption}</caption><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
