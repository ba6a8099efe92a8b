"""RM-3xx: does the threshold say anything?"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.checks.base import Check, Limit, Limits, Outcome, Part, register, supported, tested, untested
from recmetrics.checks.subject import Subject
from recmetrics.metrics.confusion import Confusion, confusion_at, counts_at_codes, flagged_rows
from recmetrics.metrics.f_beta import f_beta_parts
from recmetrics.results import Cause, Evidence, Severity
from recmetrics.usable import usable_threshold


def _confusion(subject: Subject) -> Confusion:
    return confusion_at(subject.table, usable_threshold(subject.config), subject.config.threshold_rule)


# RM-301 ------------------------------------------------------------------------------------------------------------


def threshold_admits_all(subject: Subject, limits: Limits) -> list[Outcome]:
    """Nearly every positive is found because nearly every row is let in."""
    cells = _confusion(subject)
    prevalence = cells.positives / cells.n
    facts: dict[str, Any] = {
        "threshold": subject.config.threshold,
        "recall": cells.tp / cells.positives,
        "precision": cells.tp / cells.flagged if cells.flagged else None,
        "share_flagged": cells.flagged / cells.n,
        "prevalence": prevalence,
        "n": int(cells.n),
    }
    precision = facts["precision"]
    low = precision is not None and precision <= min(limits["precision"], limits["lift"] * prevalence)
    if facts["recall"] < limits["recall"] or not low:
        return [Outcome(None, facts)]
    facts["lift"] = precision / prevalence
    best = _precision_at_best_f1(subject)
    causes = [
        tested(
            "threshold_too_low",
            facts["share_flagged"] > 0.9 and facts["lift"] < 1.1,
            share_flagged=facts["share_flagged"],
        ),
        tested("weak_model", best < 2 * precision, precision_at_best_f1=best),
        tested("label_coding", subject.auc.value < 0.5, auc=subject.auc.value),
    ]
    severity: Severity = "info" if subject.config.stage == "recall" else "warning"
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(causes)),
            evidence=(Evidence("precision_recall", {"model": subject.model, "threshold": subject.config.threshold}),),
            disproof="recall_stage",
            next_steps=("threshold_by_precision", "threshold_by_cost"),
        )
    ]


def _precision_at_best_f1(subject: Subject) -> float:
    """Return the precision at the threshold with the largest F1; it lies on the score of a positive."""
    table = subject.table
    codes = np.unique(table.positives)
    tp, fp = counts_at_codes(table, codes)
    above, below = f_beta_parts(tp, tp + fp, table.n_positives, 1.0)
    best = int(np.argmax(above / below))
    return float(tp[best] / (tp[best] + fp[best]))


register(
    Check(
        "RM-301",
        "threshold_admits_all",
        (Part(threshold_admits_all, needs=("label", "score"), gates=("one_class", "no_chosen_threshold")),),
        "model",
        limits={"recall": Limit(0.9, "P"), "precision": Limit(0.2, "P"), "lift": Limit(2.0, "P", "number")},
        causes=("threshold_too_low", "weak_model", "label_coding"),
        disproofs=("recall_stage",),
        next_steps={"threshold_by_precision": "Threshold", "threshold_by_cost": "Threshold"},
    )
)


# RM-302 ------------------------------------------------------------------------------------------------------------


def equal_at_threshold(subject: Subject, limits: Limits) -> list[Outcome]:
    """Precision and recall are the same number at the threshold: as many rows flagged as there are positives."""
    cells = _confusion(subject)
    facts: dict[str, Any] = {
        "threshold": subject.config.threshold,
        "fp": int(cells.fp),
        "fn": int(cells.fn),
        "n_flagged": int(cells.flagged),
        "n_positives": int(cells.positives),
    }
    if cells.flagged == 0:
        return [Outcome(None, facts, scope="threshold", reason="none_flagged")]
    if cells.fp != cells.fn or not cells.tp or not cells.fp:
        return [Outcome(None, facts, scope="threshold")]
    chance = chance_of_equality(cells)
    facts.update(p_chance=chance, precision=cells.tp / cells.flagged)
    causes = _causes_of_equality(subject, cells, chance, limits["p_chance"])
    return [
        Outcome(
            "warning" if chance < limits["p_chance"] else "info",
            facts,
            causes=causes,
            evidence=(Evidence("precision_recall", {"model": subject.model, "threshold": subject.config.threshold}),),
            disproof="other_users",
            next_steps=("threshold_on_other_users", "change_k_or_averaging"),
            scope="threshold",
        )
    ]


def chance_of_equality(cells: Confusion) -> float:
    """Return the probability that FP = FN by chance, if their expectations are equal: an upper bound."""
    variance = cells.fp * (1 - cells.fp / cells.negatives) + cells.fn * (1 - cells.fn / cells.positives)
    return min(1.0, 1.0 / math.sqrt(2 * math.pi * variance)) if variance > 0 else 1.0


def _causes_of_equality(subject: Subject, cells: Confusion, chance: float, limit: float) -> tuple[Cause, ...]:
    balanced = abs(cells.positives / cells.n - 0.5) < 0.005 and subject.config.threshold == 0.5
    causes = [
        *_per_user_causes(subject),
        _solved(subject),
        tested("balancing", balanced, prevalence=cells.positives / cells.n),
        tested("small_sample", chance >= limit, p_chance=chance),
    ]
    causes.append(tested("written_twice", not any(cause.outcome == "supports" for cause in causes)))
    return tuple(supported(causes))


def _per_user_causes(subject: Subject) -> list[Cause]:
    """Test whether the equality holds user by user, and whether each user has one positive and one flag."""
    user = subject.user
    if user is None:
        return [untested("structural", "user"), untested("micro_averaging", "user")]
    flagged = flagged_rows(subject.score, usable_threshold(subject.config), subject.config.threshold_rule)
    known = user >= 0
    size = len(subject.rows.users)

    def per_user(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(user[rows & known], minlength=size)

    n_rows, n_positives, n_flagged = per_user(known), per_user(subject.positive), per_user(flagged)
    some = n_rows > 0
    # FP − FN of a user is flags − positives.
    excess = (n_flagged - n_positives)[some]
    share = float(np.mean(excess == 0))
    # A coin decides which half a user is in: the variance of the half's FP − FN is then a quarter of Σ excess².
    spread = 0.5 * math.sqrt(float(excess @ excess))
    one_each = bool(np.all(n_positives[some] == 1) and np.all(n_flagged[some] == 1))
    return [
        tested("structural", share >= 0.9, share_users_equal=share, sd_over_halves=spread),
        tested("micro_averaging", one_each),
    ]


def _solved(subject: Subject) -> Cause:
    """Test whether the threshold was computed from these scores: declared so, or too exact to be anything else."""
    if subject.config.threshold_origin in ("break_even", "quantile"):
        return tested("solved_threshold", True, origin=subject.config.threshold_origin)
    t = usable_threshold(subject.config)
    digits = len(Decimal(repr(t)).normalize().as_tuple().digits)
    score = subject.score
    # A threshold written from a float32 score equals it only after the same rounding.
    on_score = bool(np.any(score == score.dtype.type(t)))
    below, above = score[score < t], score[score > t]
    middle = False
    if len(below) and len(above):
        middle = bool(np.isclose(t, (float(below.max()) + float(above.min())) / 2, rtol=1e-9, atol=0.0))
    return tested("solved_threshold", digits > 3 and (on_score or middle), digits=digits, on_a_score=on_score)


def equal_at_k(subject: Subject, limits: Limits) -> list[Outcome]:
    """Users have exactly K relevant items, so precision@K, recall@K and R-precision are one number."""
    relevant = subject.hits.n_relevant[subject.hits.n_relevant > 0]
    facts: dict[str, Any] = {"k": subject.k, "n_users": len(relevant)}
    if not len(relevant):
        return [Outcome(None, facts, scope="top_k", reason="one_class")]
    facts.update(count=int(np.count_nonzero(relevant == subject.k)), share=float(np.mean(relevant == subject.k)))
    if facts["share"] <= limits["share"]:
        return [Outcome(None, facts, scope="top_k")]
    return [
        Outcome(
            "warning",
            facts,
            causes=(tested("k_equals_relevant", True, k=subject.k),),
            evidence=(Evidence("precision_recall_at_k", {"model": subject.model, "k": subject.k}),),
            disproof="other_k",
            next_steps=("change_k_or_averaging",),
            scope="top_k",
        )
    ]


register(
    Check(
        "RM-302",
        "p_equals_r",
        (
            Part(equal_at_threshold, ("label", "score"), ("one_class", "no_chosen_threshold"), "threshold"),
            Part(equal_at_k, ("user", "label", "score"), ("no_lists",), "top_k"),
        ),
        "model",
        limits={"p_chance": Limit(0.05, "P", "number"), "share": Limit(0.9, "H", "share")},
        sentence_by="scope",
        variants=("threshold", "top_k"),
        causes=(
            "structural",
            "micro_averaging",
            "solved_threshold",
            "balancing",
            "small_sample",
            "written_twice",
            "k_equals_relevant",
        ),
        disproofs=("other_users", "other_k"),
        next_steps={"threshold_on_other_users": "Threshold", "change_k_or_averaging": "Ranking"},
    )
)
