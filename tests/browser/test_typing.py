"""What a hand is doing while an answer arrives: typing goes on in the same field."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.served import Visit

pytestmark = pytest.mark.browser


def test_a_filter_that_is_switched_on_leaves_the_field_below_it_in_place(visit: Callable[..., Visit]) -> None:
    one = visit().open("Ranking", d="sample:healthy_clicks", lang="en")
    field = one.page.get_by_role("spinbutton").first
    field.evaluate("element => { window.before = element }")
    one.choose("Segment filter", "city = 北京")
    expect(one.page.get_by_text("A segment filter is on")).to_be_visible()
    # A field made anew has lost the focus and what was typed but not yet confirmed.
    assert field.evaluate("element => element === window.before")
