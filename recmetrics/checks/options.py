"""What a run of the checks may be told beyond the convention: headline metrics, limits, mutes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Mute:
    """A finding that somebody has judged: who, why, and for which data.

    It holds for one dataset only (`fingerprint`), or for all of them when that is None.
    """

    code: str
    who: str
    why: str
    fingerprint: str | None = None


@dataclass(frozen=True)
class DiagnoseOptions:
    """Options of `diagnose` that change no metric.

    Attributes
    ----------
    k
        Cutoff that list checks look at; None = 10 where the convention has it, else the largest below, else the first.
    headline
        Metric strings that are quoted; None = what the convention's stage proposes, else `roc_auc` and `ndcg@k`.
    threshold_set
        The user chose `config.threshold`, although it is the default or the scores are no probabilities.
    repeat_consumption
        A user may take an item again (music, grocery), so a repeated pair is no fault.
    limits
        Check code → name of the limit → value that replaces the project's.
    mutes
        Findings to set aside.
    """

    k: int | None = None
    headline: tuple[str, ...] | None = None
    threshold_set: bool = False
    repeat_consumption: bool = False
    limits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    mutes: tuple[Mute, ...] = ()
