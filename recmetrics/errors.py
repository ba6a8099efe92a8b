"""The one exception that a caller has to know: something is wrong with the input, and here is how to mend it."""

from __future__ import annotations

from typing import Any

KINDS = frozenset(
    {
        "invalid_k",
        "invalid_config",
        "unknown_name",
        "label_mapping_needed",
        "encoding",
        "format",
        "file",
        "too_large",
        "duplicates",
        "missing_scores",
        "negative_relevance",
        "gain_overflow",
        "ids_do_not_match",
        "no_label_column",
        "no_score_column",
        "no_user_column",
        "no_item_column",
        "no_column",
        "score_not_numeric",
        "malformed_line",
        "no_rows",
    }
)


class RecmetricsError(Exception):
    """Input that cannot be used, said in one sentence: what, where, expected, next step.

    Parameters
    ----------
    kind
        One word of `KINDS`; callers branch on it, the wording may change.
    template
        The English sentence with named placeholders, marked with `N_` so that it is translated at the edge.
    **facts
        Values for the placeholders. They are data: text, never markup.
    """

    def __init__(self, kind: str, template: str, /, **facts: Any) -> None:
        if kind not in KINDS:
            raise ValueError(f"unknown error kind {kind!r}")
        super().__init__(kind, template, facts)
        self.kind = kind
        self.template = template
        self.facts = facts

    def __str__(self) -> str:
        return self.template.format(**self.facts)
