"""Presets 预设口径: the conventions of other libraries, as data. No library is needed at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recmetrics.config import EvalConfig
from recmetrics.registry import Registry
from recmetrics.text import N_


@dataclass(frozen=True)
class Preset:
    """One named convention.

    Attributes
    ----------
    name
        The key of `PRESETS`.
    library
        Library and version whose numbers it gives.
    fields
        The fields of `EvalConfig` in which it departs from the project's defaults.
    warnings
        Sentences marked for translation: traps to print with its numbers.
    """

    name: str
    library: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def config(self, **changes: Any) -> EvalConfig:
        """Return the convention, with some fields changed. RecmetricsError for an unknown field or value."""
        return EvalConfig(**{**self.fields, **changes})


PRESETS: Registry[Preset] = Registry("preset")

# Users with a truth row and a list; the others are not reported.
_REPORTED_BY_BOTH = {"user_base": "truth_and_run", "users_without_relevant": "skip", "users_missing_from_run": "skip"}
_ALL_OF_TRUTH_AS_ZERO = {"user_base": "truth", "users_without_relevant": "zero", "users_missing_from_run": "zero"}

PRESETS.add("default", Preset("default", "recmetrics"))
PRESETS.add(
    "trec_eval",
    Preset(
        "trec_eval",
        "pytrec-eval-terrier 0.5.11",
        {
            "user_base": "truth_and_run",
            "users_without_relevant": "zero",
            "users_missing_from_run": "skip",
            "ties": "item_desc",
            "map_denominator": "r",
            "grades": "all",
            "mrr_cutoff": "none",
        },
        (
            N_("Equal scores are ordered by item id as text, descending, so ids decide places."),
            N_("The reciprocal rank has no cutoff, whatever K is asked for."),
        ),
    ),
)
PRESETS.add(
    "ranx",
    Preset(
        "ranx",
        "ranx 0.3.21 (make_comparable)",
        {**_ALL_OF_TRUTH_AS_ZERO, "ties": "file_order", "map_denominator": "r"},
        (N_("The library itself orders equal scores arbitrarily in lists of 16 rows or more."),),
    ),
)
PRESETS.add(
    "rectools",
    Preset(
        "rectools",
        "RecTools 0.19.0",
        {"ties": "file_order", "map_denominator": "r", "gain": "binary", "ideal": "full_k"},
        (N_("The ideal list is always full: a user with one relevant item cannot reach an NDCG of 1."),),
    ),
)
PRESETS.add(
    "replay_df",
    Preset(
        "replay_df",
        "replay-rec 0.22.0 (data frames)",
        {"ties": "item_desc", "gain": "binary"},
        (N_("Data frames and dictionaries with the same rows give different numbers where scores are equal."),),
    ),
)
PRESETS.add(
    "replay_dict",
    Preset(
        "replay_dict",
        "replay-rec 0.22.0 (dictionaries)",
        {"ties": "file_order", "gain": "binary"},
        (N_("Data frames and dictionaries with the same rows give different numbers where scores are equal."),),
    ),
)
PRESETS.add(
    "recbole",
    Preset(
        "recbole",
        "RecBole 1.2.1",
        {**_REPORTED_BY_BOTH, "ties": "file_order", "gain": "binary", "gauc_weight": "positives"},
        (N_("The library's order of equal scores is left to its top-k routine; here the order of the file decides."),),
    ),
)
PRESETS.add(
    "elliot",
    Preset(
        "elliot",
        "Elliot, December 2025",
        {**_REPORTED_BY_BOTH, "ties": "file_order", "map_denominator": "mean_p", "gain": "exp2_shift"},
        (N_("Its MAP is the mean of the precisions at 1 to K, and its gain moves with the relevance threshold."),),
    ),
)
