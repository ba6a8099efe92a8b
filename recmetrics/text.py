"""Words and printed numbers in the chosen language.

Catalogues are gettext files read by Babel, one file per area, all files of a language together. A msgid is the English
sentence; or, for long texts that exist in English too, a key such as `check.RM-501.title`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date as Date
from functools import lru_cache
from pathlib import Path
from typing import Any

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "简体中文"}
LOCALES = Path(__file__).parent / "locales"
_BABEL_NAME = {"en": "en_US", "zh": "zh_Hans_CN"}
UNDEFINED = "–"
PLAIN_BELOW = 1e15  # a float holds no decimals beyond, and Babel refuses numbers of more than 28 digits


def N_(message: str) -> str:
    """Mark a sentence for translation without translating it: the library stays free of languages."""
    return message


@lru_cache(maxsize=8)
def catalogue(language: str) -> Mapping[tuple[str | None, str], Any]:
    """Return the messages of a language: (context or None, msgid) → text or tuple of plural forms."""
    from babel.messages.pofile import read_po  # lazily: the library computes without it

    found: dict[tuple[str | None, str], Any] = {}
    for path in sorted((LOCALES / language / "LC_MESSAGES").glob("*.po")):
        with path.open("rb") as file:
            read = read_po(file, locale=language)
        for message in read:
            if message.id:
                key = message.id if isinstance(message.id, str) else message.id[0]
                found[(message.context, key)] = message.string
    return found


def _minus(number: str) -> str:
    """Return a printed number with the minus sign, which signed differences and −∞ carry as well."""
    return str(number).replace("-", "−")


@dataclass(frozen=True)
class Text:
    """All words and number formats of one language. `language` is a key of `LANGUAGES`."""

    language: str = "en"

    def _(self, message: str, **values: Any) -> str:
        """Translate a sentence whose msgid is the English text, then fill its named placeholders."""
        return self._fill(self._lookup(None, message) or message, values)

    def _p(self, context: str, message: str, **values: Any) -> str:
        """Translate where one English word needs several words elsewhere; `context` tells them apart."""
        return self._fill(self._lookup(context, message) or message, values)

    def _n(self, one: str, many: str, n: int, **values: Any) -> str:
        """Translate with a count; `{n}` is printed grouped."""
        forms = self._lookup(None, one)
        if forms and not isinstance(forms, str):
            chosen = forms[0] if len(forms) == 1 else forms[0 if n == 1 else 1]
        else:
            chosen = ""
        return self._fill(chosen or (one if n == 1 else many), {"n": self.count(n), **values})

    def content(self, key: str, **values: Any) -> str:
        """Return a keyed text (`check.RM-501.title`); the key itself when there is none, which tests refuse."""
        return self._fill(catalogue(self.language).get((None, key)) or key, values)

    def has_content(self, key: str) -> bool:
        """Whether the keyed catalogue of this language holds `key`."""
        return bool(catalogue(self.language).get((None, key)))

    def _lookup(self, context: str | None, message: str) -> Any:
        return catalogue(self.language).get((context, message))

    @staticmethod
    def _fill(template: str, values: Mapping[str, Any]) -> str:
        # A value may hold braces (a hostile user id): it is filled in once and never read as a template again.
        return template.format(**values) if values else template

    # Printed numbers. The interpreter's locale and the browser's play no part.

    def count(self, n: float) -> str:
        """Return a whole number with grouped digits: 35,502; from 10¹⁵ on as `1.235E30`, as a metric is."""
        if abs(n) >= PLAIN_BELOW:
            return self.metric(float(n))
        from babel.numbers import format_decimal

        return _minus(format_decimal(int(n), locale=_BABEL_NAME[self.language]))

    def metric(self, value: float | None, decimals: int = 3) -> str:
        """Return a metric with a fixed number of decimals; `–` when undefined; from 10¹⁵ on as `1.235E30`."""
        if value is None or math.isnan(value):
            return UNDEFINED
        if math.isinf(value):
            return "∞" if value > 0 else "−∞"
        from babel.numbers import format_decimal, format_scientific

        if abs(value) >= PLAIN_BELOW:
            return _minus(format_scientific(value, format="0.###E0", locale=_BABEL_NAME[self.language]))
        pattern = "#,##0." + "0" * decimals if decimals else "#,##0"
        return _minus(format_decimal(value, format=pattern, locale=_BABEL_NAME[self.language]))

    def signed(self, value: float | None, decimals: int = 3) -> str:
        """Return a difference with its sign."""
        if value is None or math.isnan(value):
            return UNDEFINED
        return ("+" if value >= 0 else "−") + self.metric(abs(value), decimals)

    def percent(self, share: float | None, decimals: int = 1) -> str:
        """Return a share in 0..1 as a percentage."""
        if share is None or math.isnan(share):
            return UNDEFINED
        from babel.numbers import format_percent

        pattern = "#,##0." + "0" * decimals + "%" if decimals else "#,##0%"
        return _minus(format_percent(share, format=pattern, locale=_BABEL_NAME[self.language]))

    def interval(self, low: float | None, high: float | None, decimals: int = 3) -> str:
        """Return `[0.712, 0.801]`, or an empty text when there is no interval."""
        if low is None or high is None or math.isnan(low) or math.isnan(high):
            return ""
        return f"[{self.metric(low, decimals)}, {self.metric(high, decimals)}]"

    def p_value(self, p: float | None) -> str:
        """Return `p < 0.001` or `p = 0.032`."""
        if p is None or math.isnan(p):
            return UNDEFINED
        return "p < 0.001" if p < 0.001 else f"p = {self.metric(p)}"

    def date(self, day: Date) -> str:
        """Return a calendar day as this language writes it."""
        from babel.dates import format_date

        return str(format_date(day, format="medium", locale=_BABEL_NAME[self.language]))
