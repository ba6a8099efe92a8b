"""The bundled samples: what each teaches, which check it fires, and how its file is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recmetrics.errors import RecmetricsError
from recmetrics.registry import Registry
from recmetrics.shipped import shipped
from recmetrics.text import N_


@dataclass(frozen=True)
class Sample:
    """One sample.

    Attributes
    ----------
    id
        Short name, part of links (`sample:leak`).
    title, teaches
        English sentences, translated at the edge.
    fires
        Code of the check whose alarm stands on this sample; None when no check may raise one.
    files
        Paths below the folder of the samples; several files are several models.
    load_options
        Keyword arguments of `load` beside the paths.
    """

    id: str
    title: str
    teaches: str
    fires: str | None
    files: tuple[str, ...]
    load_options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where the files are on this machine; RecmetricsError (`file`) when they were not installed."""
        return tuple(_find(name) for name in self.files)


def sample_path(sample_id: str) -> Path:
    """Return the first file of a sample.

    Raises
    ------
    RecmetricsError
        `unknown_name` when there is no such sample, `file` when its file was not installed.
    """
    return SAMPLES[sample_id].paths[0]


def _find(name: str) -> Path:
    path = shipped("sample_data") / name
    if path.is_file():
        return path
    raise RecmetricsError(
        "file",
        N_("The sample file {file} is not part of this installation. Install the package again from its wheel."),
        file=name,
    )


SAMPLES: Registry[Sample] = Registry("sample")


def _add(sample: Sample) -> None:
    SAMPLES.add(sample.id, sample)


_add(
    Sample(
        "healthy_clicks",
        N_("A healthy click log with two models"),
        N_(
            "What good data looks like: honest probabilities, random screen positions, two models of which B is "
            "better, and clicks, purchases and amounts for the business metrics."
        ),
        None,
        ("healthy_clicks.csv",),
        {
            "columns": {
                "user": "user_id",
                "item": "item_id",
                "label": "click",
                "score": ["score_a", "score_b"],
                "segment": ["city", "device"],
                "position": "position",
                "click": "click",
                "purchase": "purchase",
                "amount": "amount",
                "dwell_seconds": "dwell_seconds",
            }
        },
    )
)
_add(
    Sample(
        "leak",
        N_("A score that knows the answer"),
        N_("An AUC far above what clicks allow is a reason to look for a leak, not to celebrate."),
        "RM-501",
        ("leak.csv",),
        {"columns": {"user": "uid", "item": "iid", "label": "label", "score": "pred"}},
    )
)
_add(
    Sample(
        "p_equals_r",
        N_("Precision equals recall"),
        N_(
            "Every query has ten relevant documents, so at K = 10 precision and recall are the same number "
            "for any ranking."
        ),
        "RM-302",
        ("p_equals_r.csv",),
        {"columns": {"user": "query_id", "item": "doc_id", "label": "relevance", "score": "score"}},
    )
)
_add(
    Sample(
        "sampled_1_99",
        N_("One positive among 99 sampled negatives"),
        N_("Values at K on sampled candidates look splendid and do not tell how the whole catalogue would be ranked."),
        "RM-401",
        ("sampled_1_99.csv",),
        {"columns": {"user": "user", "item": "item", "label": "label", "score": "score"}},
    )
)
_add(
    Sample(
        "row_shift",
        N_("A join that slipped by one row"),
        N_("An AUC of one half need not mean a bad model: here every label stands one row too low."),
        "RM-202",
        ("row_shift.csv",),
        {"columns": {"user": "user_id", "item": "movie_id", "label": "clicked", "score": "pctr"}},
    )
)
_add(
    Sample(
        "who_clicks",
        N_("A score that only knows who clicks"),
        N_("The pooled AUC is good and the AUC inside each user is a coin toss: nobody's own list is ordered."),
        "RM-702",
        ("who_clicks.csv",),
        {
            "columns": {
                "user": "用户编号",
                "item": "商品编号",
                "label": "是否点击",
                "score": "预估点击率",
                "segment": ["渠道"],
            }
        },
    )
)
_add(
    Sample(
        "ten_rows",
        N_("Ten rows to follow by hand"),
        N_(
            "Small enough to count every pair and every cell of the matrix with a pencil, and too small to rank "
            "models with."
        ),
        "RM-107",
        ("ten_rows.csv",),
        {"columns": {"item": "item", "label": "label", "score": "score"}},
    )
)
_add(
    Sample(
        "lightgbm",
        N_("Graded search results, from LightGBM's examples"),
        N_(
            "Real queries with grades from 0 to 4: linear and exponential gains give two NDCGs, and some lists are "
            "shorter than K."
        ),
        "RM-403",
        ("lightgbm/rank_test_scored.csv",),
        {"columns": {"user": "query", "item": "doc", "label": "relevance", "score": "score"}},
    )
)
