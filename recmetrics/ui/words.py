"""Metric values in words: reasons, who was counted, the convention behind a number. Nothing is drawn here."""

from __future__ import annotations

from recmetrics.metrics import parse_metric
from recmetrics.results import MetricValue
from recmetrics.text import N_, Text

SKIPPED = {
    "without_relevant": N_("{n} users without relevant items left out"),
    "missing_from_run": N_("{n} users without a list left out"),
    "one_class": N_("{n} users with one class only left out"),
    "undefined": N_("{n} users without a defined value left out"),
}
COMPANIONS = {
    "baseline": N_("Baseline: {value}"),
    "baseline_majority": N_("Always saying the larger class: {value}"),
    "baseline_all_negative": N_("All-negative baseline: {value}"),
    "lift": N_("Lift over the base rate: {value}"),
    "tied_pairs": N_("Share of tied pairs: {value}"),
    "null_mean": N_("A calibrated model of this size would show {value} on average"),
    "null_high": N_("and less than {value} in 95 of 100 cases"),
    "clipped": N_("Rows clipped: {value}"),
    "z": N_("z of the difference: {value}"),
    "rows_skipped": N_("Rows of users left out: {value}"),
    "users_cut_inside_tie": N_("Users whose K-th place lies inside a tie: {value}"),
    "without_missing": N_("Without the users who got no list: {value}"),
    "predicted_share": N_("Share of rows flagged: {value}"),
}


def reason_in_words(reason: str, text: Text) -> str:
    """Return why a value is undefined."""
    if reason.startswith("missing column: "):
        return text._("missing column: {name}", name=reason.removeprefix("missing column: "))
    return text._(reason) if reason else ""


def explain_lines(value: MetricValue, text: Text) -> list[str]:
    """Return the lines of Explain: formula, who was counted and left out, ties, companions, source."""
    name = parse_metric(value.metric)
    lines = [f"`{value.metric}`"]
    formula = f"glossary.{name.entry.key}.formula"
    if text.has_content(formula):
        lines.append(text.content(formula))
    if value.value is None:
        lines.append(text._("Undefined: {reason}.", reason=reason_in_words(value.undefined or "", text)))
    if value.n_users is not None:
        lines.append(text._n("Mean over {n} user.", "Mean over {n} users.", value.n_users))
    else:
        lines.append(text._n("Counted over {n} row.", "Counted over {n} rows.", value.n_rows))
    lines += [text._(SKIPPED[why], n=text.count(n)) for why, n in value.skipped.items() if why in SKIPPED]
    if value.zero_filled is not None:
        lines.append(text._("With users without relevant items as 0: {value}", value=text.metric(value.zero_filled)))
    lines += _tie_lines(value, text)
    for companion, words in COMPANIONS.items():
        if companion in value.extra:
            whole = companion in ("clipped", "rows_skipped", "users_cut_inside_tie")
            shown = text.count(value.extra[companion]) if whole else text.metric(value.extra[companion])
            lines.append(text._(words, value=shown))
    if "threshold" in name.entry.options:
        lines.append(text._("Flagged: score ≥ threshold."))
    lines.append(text._("Source: {source}", source=name.entry.source))
    return lines


def _tie_lines(value: MetricValue, text: Text) -> list[str]:
    if value.tie_low is None or value.tie_high is None:
        return []
    if value.tie_low == value.tie_high:
        return [text._("No equal scores matter here.")]
    return [
        text._(
            "Equal scores: expected value over all orders; worst order {low}, best order {high}.",
            low=text.metric(value.tie_low),
            high=text.metric(value.tie_high),
        )
    ]
