"""The settings that the app ships with hold what was decided, and leave on what protects."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (
            "client",
            {
                "showSidebarNavigation": False,
                "toolbarMode": "viewer",
                "showErrorDetails": "type",
                "showErrorLinks": False,
            },
        ),
        ("runner", {"postScriptGC": False, "magicEnabled": False}),
        ("browser", {"gatherUsageStats": False}),
        ("server", {"maxUploadSize": 200, "enableStaticServing": False, "enableAgentApi": False}),
    ],
)
def test_a_section_holds_what_was_decided_and_nothing_else(section: str, expected: dict[str, object]) -> None:
    assert SETTINGS[section] == expected


@pytest.mark.parametrize(
    ("theme", "expected"),
    [
        ("light", {"backgroundColor": "#FFFFFF", "textColor": "#1B1F24", "primaryColor": "#0072B2"}),
        ("dark", {"backgroundColor": "#0E1117", "textColor": "#E6EDF3", "primaryColor": "#56B4E9"}),
    ],
)
def test_both_themes_have_their_colours(theme: str, expected: dict[str, str]) -> None:
    found = SETTINGS["theme"][theme]
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("protection", ["enableXsrfProtection", "enableCORS"])
def test_the_protection_against_foreign_sites_is_left_on(protection: str) -> None:
    assert SETTINGS["server"].get(protection, True) is True


def test_the_settings_name_no_address_and_no_font_to_load() -> None:
    assert set(SETTINGS) == {"client", "runner", "browser", "server", "theme"}
    written = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert "http" not in written
    assert "font" not in written.lower()


def test_streamlit_knows_every_setting() -> None:
    # A misspelt name would be ignored with a line in the log.
    from streamlit import config

    known = set(config.get_config_options())
    for section, entries in SETTINGS.items():
        for name, value in entries.items():
            names = [f"{name}.{inner}" for inner in value] if isinstance(value, dict) else [name]
            assert {f"{section}.{inner}" for inner in names} <= known
