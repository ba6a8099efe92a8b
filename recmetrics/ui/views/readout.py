"""An operating point in words and printed numbers: sentence, units, matrix, tiles, remarks. Nothing is drawn here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recmetrics.metrics.base import Measured
from recmetrics.metrics.classification import accuracy_of, f_beta_of, fpr_of, specificity_of
from recmetrics.operating_point import Mode, OperatingPoint, PositionTable, ladder
from recmetrics.results import REASONS
from recmetrics.text import N_, UNDEFINED, Text

MODE_LABELS: dict[Mode, str] = {
    "score": N_("Score"),
    "share": N_("Share of rows"),
    "topk": N_("Top K per user"),
    "precision": N_("Target precision"),
    "recall": N_("Target recall"),
    "cost": N_("Cost FP : FN"),
}
PRESET_LABELS = {
    "max_f1": N_("Max F1"),
    "max_f05": N_("Max F0.5"),
    "max_f2": N_("Max F2"),
    "youden": N_("Youden"),
    "break_even": N_("Break-even"),
}


@dataclass(frozen=True)
class Tile:
    """A named number with what stands behind it: `note` is the fraction, the baseline or the reason for `–`."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Readout:
    """Words for the points of one table in one language."""

    table: PositionTable
    text: Text
    decimals: int

    # Values

    def score(self, value: float) -> str:
        """Print a score with as many decimals as this model's scores need."""
        return self.text.metric(value, self.decimals)

    def value(self, mode: Mode, value: float) -> str:
        """Print a value in the unit of its mode."""
        text = self.text
        if mode == "score":
            return self.score(value)
        if mode == "share":
            return text.percent(value, 2)
        if mode == "topk":
            return text.count(value)
        return ratio_words(value, text) if mode == "cost" else text.metric(value)

    def place(self, point: OperatingPoint) -> str:
        """Say what decides: `score ≥ 0.500`, or the first K of every user."""
        text = self.text
        if point.threshold is None:
            return text._n("the first place of every user", "the first {n} places of every user", int(point.value))
        if math.isinf(point.threshold):
            return text._("a threshold beyond every score")
        return text._("score {sign} {score}", sign=self.table.sign, score=self.score(point.threshold))

    # Sentences

    def sentence(self, point: OperatingPoint) -> str:
        """Answer the page's question in one sentence."""
        text, counts = self.text, point.confusion
        if counts.n == 0:
            return text._("There are no rows with a label here.")
        facts = {"t": self.place(point), "share": text.percent(point.share), "flagged": text.count(counts.flagged)}
        if counts.flagged == 0:
            return text._("At {t} no row is flagged.", t=facts["t"])
        if point.precision.value is None or point.recall.value is None:
            return text._(
                "At {t}, {share} of the rows are flagged ({flagged}); none of the rows is a positive.", **facts
            )
        return text._(
            "At {t}, {share} of the rows are flagged; {recall} of all positives are among them, "
            "and about {right} of every 10 flags are right.",
            recall=text.percent(point.recall.value),
            right=text.metric(10 * point.precision.value, 1),
            t=facts["t"],
            share=facts["share"],
        )

    def remarks(self, point: OperatingPoint) -> list[str]:
        """Say what the number alone would hide: an unreachable target, ties, short lists, a rule per user."""
        found = [self._unreached(point), self._tied_share(point), self._on_threshold(point), self._rule_per_user(point)]
        if len(self.table.code) == 1:
            found.insert(0, self.text._("Every row has the same score, so a threshold flags all rows or none."))
        return [remark for remark in found if remark]

    def _unreached(self, point: OperatingPoint) -> str:
        if point.reached:
            return ""
        if point.confusion.positives == 0:
            return self.text._("There are no positives, so no threshold reaches this target.")
        return self.text._(
            "No threshold reaches a precision of {asked}. The best precision here is {best}, at {t}.",
            asked=self.text.metric(point.value),
            best=self.text.metric(point.precision.value),
            t=self.place(point),
        )

    def _tied_share(self, point: OperatingPoint) -> str:
        n_asked = math.ceil(point.value * point.confusion.n - 1e-6) if point.mode == "share" else 0
        if point.mode != "share" or point.confusion.flagged <= n_asked:
            return ""
        return self.text._(
            "{asked} of the rows were asked for; with all rows of the same score it is {got}.",
            asked=self.text.percent(point.value, 2),
            got=self.text.percent(point.share, 2),
        )

    def _on_threshold(self, point: OperatingPoint) -> str:
        other = point.other_rule
        if other is None or point.n_on_threshold == 0 or point.threshold is None:
            return ""
        text, n = self.text, point.n_on_threshold
        facts = {
            "t": self.score(point.threshold),
            "tp": text.count(other.tp),
            "fp": text.count(other.fp),
            "fn": text.count(other.fn),
            "tn": text.count(other.tn),
        }
        if other.flagged < point.confusion.flagged:
            return text._n(
                "{n} row sits on {t} itself and counts as flagged; otherwise TP {tp}, FP {fp}, FN {fn}, TN {tn}.",
                "{n} rows sit on {t} itself and count as flagged; otherwise TP {tp}, FP {fp}, FN {fn}, TN {tn}.",
                n,
                **facts,
            )
        return text._n(
            "{n} row sits on {t} itself and does not count as flagged; otherwise TP {tp}, FP {fp}, FN {fn}, TN {tn}.",
            "{n} rows sit on {t} itself and do not count as flagged; otherwise TP {tp}, FP {fp}, FN {fn}, TN {tn}.",
            n,
            **facts,
        )

    def _rule_per_user(self, point: OperatingPoint) -> str:
        topk = self.table.topk
        if point.threshold is not None or topk is None:
            return ""
        return self.text._(
            "Top K is a rule per user, not one score: its dot is hollow and may lie off the curve. "
            "{short} of {users} lists are shorter than K.",
            short=self.text.count(point.n_short_lists),
            users=self.text.count(topk.n_users),
        )

    # Tables

    def units(self, point: OperatingPoint) -> list[Tile]:
        """The same point in all six units."""
        text = self.text
        if point.threshold is None:
            score, why = UNDEFINED, text._("Top K is a rule per user, not one score.")
        else:
            score, why = f"{self.table.sign} {self.score(point.threshold)}", ""
        return [
            Tile(text._("Score"), score, why),
            Tile(text._("Share of rows"), text.percent(point.share, 2), self.rows_of(point)),
            Tile(text._("Top K per user"), *self._k_words(point)),
            self._tile(N_("Precision"), point.precision),
            self._tile(N_("Recall"), point.recall),
            Tile(text._("Cost FP : FN"), *self._cost_words(point)),
        ]

    def rows_of(self, point: OperatingPoint) -> str:
        """Return `n shown / n total` of the rows flagged."""
        counts = point.confusion
        return self.text._(
            "{flagged} of {n} rows", flagged=self.text.count(counts.flagged), n=self.text.count(counts.n)
        )

    def _k_words(self, point: OperatingPoint) -> tuple[str, str]:
        text = self.text
        if self.table.topk is None:
            return UNDEFINED, text._("There is no user column.")
        if point.k_equivalent is None:
            return UNDEFINED, text._("No row is flagged.")
        if point.threshold is None:
            return text.count(point.k_equivalent), ""
        return "≈ " + text.count(point.k_equivalent), text._("about as many rows")

    def _cost_words(self, point: OperatingPoint) -> tuple[str, str]:
        text = self.text
        if point.cost_low is None or point.cost_high is None:
            return UNDEFINED, text._("Costs need rows of both classes.")
        low, high = ratio_words(point.cost_low, text), ratio_words(point.cost_high, text)
        if not point.is_cheapest:
            return "≈ " + low, text._("no ratio picks this point")
        note = text._("the cheapest point there")
        if math.isinf(point.cost_high):
            return "≥ " + low, note
        return (f"≤ {high}" if point.cost_low == 0 else f"{low} … {high}"), note

    def tiles(self, point: OperatingPoint, beta: float) -> list[Tile]:
        """Precision, recall, the F family, FPR, specificity, accuracy with its baseline, lift."""
        counts = point.confusion
        betas = sorted({1.0, 0.5, 2.0, beta}, key=lambda b: (b != 1, b))
        tp, fp, fn, tn = (self.rows(n) for n in (counts.tp, counts.fp, counts.fn, counts.tn))
        return [
            self._tile(N_("Precision"), point.precision, f"TP / (TP + FP) = {tp} / ({tp} + {fp})"),
            self._tile(N_("Recall"), point.recall, f"TP / (TP + FN) = {tp} / ({tp} + {fn})"),
            *[self._tile(f"F{b:g}", f_beta_of(counts, b), _f_fraction(b)) for b in betas],
            self._tile(N_("False positive rate"), fpr_of(counts), f"FP / (FP + TN) = {fp} / ({fp} + {tn})"),
            self._tile(N_("Specificity"), specificity_of(counts), f"TN / (TN + FP) = {tn} / ({tn} + {fp})"),
            self._accuracy(accuracy_of(counts)),
            self._lift(point),
        ]

    def _accuracy(self, measured: Measured) -> Tile:
        if measured.value is None:
            return self._tile(N_("Accuracy"), measured)
        note = self.text._(
            "flagging nothing: {baseline}", baseline=self.text.metric(measured.extra["baseline_all_negative"])
        )
        return Tile(self.text._("Accuracy"), self.text.metric(measured.value), note)

    def _lift(self, point: OperatingPoint) -> Tile:
        label, precision, counts = self.text._("Lift"), point.precision, point.confusion
        if precision.value is None:
            return Tile(label, UNDEFINED, self.reason(precision.undefined))
        if "lift" not in precision.extra:
            return Tile(label, UNDEFINED, self.reason("no positives"))
        note = self.text._("precision / base rate {share}", share=self.text.percent(counts.positives / counts.n))
        return Tile(label, "× " + self.text.metric(precision.extra["lift"], 2), note)

    def _tile(self, label: str, measured: Measured, note: str = "") -> Tile:
        if measured.value is None:
            return Tile(self.text._(label), UNDEFINED, self.reason(measured.undefined))
        return Tile(self.text._(label), self.text.metric(measured.value), note)

    def reason(self, reason: str | None) -> str:
        """Say why a value is undefined."""
        return self.text._(reason) if reason in REASONS else (reason or "")

    def rows(self, n: float) -> str:
        """Print a number of rows."""
        return printed_rows(n, self.text)


def readout(table: PositionTable, text: Text) -> Readout:
    """Return the words for a table; scores get the decimals that tell its positions apart."""
    constant = len(table.code) < 2
    return Readout(table, text, 3 if constant else _decimals(ladder(table, "score")))


def printed_rows(n: float, text: Text) -> str:
    """Print a number of rows; expected counts keep one decimal."""
    return text.count(n) if n == int(n) else text.metric(n, 1)


def _decimals(values: NDArray[np.float64]) -> int:
    finite = values[np.isfinite(values)]
    if len(finite) < 2:
        return 3
    # The central part: one outlier must not hide the rest.
    cut = len(finite) // 100
    span = float(finite[len(finite) - 1 - cut]) - float(finite[cut])  # Python numbers: ∞ where it overflows
    return min(max(3 - math.ceil(math.log10(span)), 3), 8) if 0 < span < math.inf else 3


def _f_fraction(beta: float) -> str:
    weight = beta**2
    if weight == 1:
        return "2TP / (2TP + FN + FP)"
    return f"{1 + weight:g}TP / ({1 + weight:g}TP + {weight:g}FN + FP)"


def ratio_words(ratio: float, text: Text) -> str:
    """Print the cost of a false alarm against a miss: `1 : 5`, `2 : 1`, `0 : 1`."""
    if math.isinf(ratio):
        return "∞ : 1"
    if ratio == 0:
        return "0 : 1"
    large = ratio if ratio >= 1 else 1 / ratio
    whole = abs(large - round(large)) < 1e-9
    number = text.metric(large, 0 if whole or large >= 100 else 2)
    return f"{number} : 1" if ratio >= 1 else f"1 : {number}"


def slider_labels(
    values: NDArray[np.float64], printed: Callable[[float], str]
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the places of a slider and their labels: values that print alike share a place, both ends stay."""
    labels = [printed(float(value)) for value in values]
    keep = [i for i in range(len(labels)) if i == 0 or labels[i] != labels[i - 1]]
    if keep and keep[-1] != len(labels) - 1 and len(keep) > 1:
        keep[-1] = len(labels) - 1
    return values[keep], tuple(labels[i] for i in keep)
