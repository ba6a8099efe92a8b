"""Build hook: a wheel carries the app, its settings and the samples inside the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLED = ("app.py", "pages", ".streamlit/config.toml", "sample_data")


class BundleApp(BuildHookInterface[BuilderConfig]):
    """Map the files that stand beside the package in a checkout to `recmetrics/bundled`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or self.target_name != "wheel":
            return
        for name in BUNDLED:
            build_data["force_include"][str(Path(self.root) / name)] = f"recmetrics/bundled/{name}"
