"""Where the app, its settings and the samples lie: at the top of a checkout, inside an installed wheel."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent
BUNDLED = PACKAGE / "bundled"


def shipped(name: str) -> Path:
    """Return the path of something that comes with the project: `app.py`, `pages`, `sample_data`."""
    return (BUNDLED if BUNDLED.is_dir() else PACKAGE.parent) / name
