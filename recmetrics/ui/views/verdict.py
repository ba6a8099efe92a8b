"""Overview in words: which six numbers lead, the band of an AUC, the headline. Nothing is drawn here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recmetrics.config import EvalConfig
from recmetrics.metrics import parse_metric
from recmetrics.results import Finding, MetricValue
from recmetrics.text import N_, Text
from recmetrics.ui.words import reason_in_words

FEW = 30
# What depends on the point where rows are flagged: there is one value per threshold, or per K of a rule per user.
AT_POINT = ("precision", "recall", "f_beta", "fpr", "accuracy")
# metrics.md §1.4: lower end of each band, closed below but for the last two.
BANDS: tuple[tuple[float, str], ...] = (
    (0.6, N_("typical of a score that has learned almost nothing")),
    (0.7, N_("typical of a weak signal")),
    (0.8, N_("usual in industry")),
    (0.9, N_("typical of rich features and a clear task")),
    (0.95, N_("suspect leakage")),
    (1.0, N_("assume leakage until it is disproved")),
)
INVERTED = N_("direction or labels may be inverted")


def tile_names(config: EvalConfig, k: int, *, has_users: bool, top_k: int | None) -> list[str]:
    """Return the six metric strings that lead at this stage.

    `top_k` is the K of a rule per user that decides in place of a threshold; None when a threshold decides.
    """
    if not has_users:
        return ["roc_auc", "auprc", "log_loss", "precision", "recall", "accuracy"]
    middle, top = config.ks[-2:] if len(config.ks) > 1 else config.ks * 2
    by_stage: Mapping[str | None, list[str]] = {
        None: ["roc_auc", "gauc", "auprc", f"ndcg@{k}", f"precision@{k}", f"recall@{k}"],
        "recall": [f"recall@{middle}", f"recall@{top}", f"hit_rate@{middle}", f"precision@{k}", f"f_beta[beta=2]@{k}"],
        "ranking": [f"ndcg@{k}", f"precision@{k}", f"mrr@{k}", f"map@{k}", "roc_auc", "gauc"],
        "ctr": ["roc_auc", "gauc", "log_loss", "normalized_entropy", "calibration_ratio", "f_beta"],
        "push": ["precision", "recall", "f_beta[beta=0.5]", "fpr", "precision@1", f"precision@{top}"],
    }
    asked = [*by_stage[config.stage], "gauc", f"ndcg@{k}", f"hit_rate@{k}"]
    named = [_under_rule(name, top_k) if top_k is not None else name for name in asked]
    return list(dict.fromkeys(name for name in named if name))[:6]


def _under_rule(name: str, top_k: int) -> str:
    """Turn a metric at a threshold into the one of the first K of every user; an empty text when there is none."""
    base = name.partition("[")[0]
    if base not in AT_POINT or "@" in name:
        return name
    return f"{name}@{top_k}" if base in ("precision", "recall", "f_beta") else ""


def label(metric: str, text: Text) -> str:
    """Return a metric's name with its β and its K: `NDCG@10`, `F0.5`. Symbols are the same in every language."""
    name = parse_metric(metric)
    words = name.entry.label if name.entry.label.isupper() else text._(name.entry.label)
    if name.name == "f_beta":
        words = f"F{float(dict(name.options).get('beta', '1')):g}"
    return words if name.k is None else f"{words}@{name.k}"


def band(auc: MetricValue, text: Text) -> str:
    """Return what an AUC of this size is typical of; an empty text when it is undefined."""
    if auc.value is None:
        return ""
    if auc.value < 0.5 and auc.high is not None and auc.high < 0.5:
        return text._(INVERTED)
    # 0.90 itself still belongs to the band below it, 0.60, 0.70 and 0.80 to the one above.
    below = [words for end, words in BANDS if auc.value < end or (end >= 0.9 and auc.value <= end)]
    return text._(below[0])


def note(value: MetricValue, text: Text, config: EvalConfig, sign: str) -> str:
    """Return what must stand beside a value: band, baseline, threshold, sampling."""
    name = parse_metric(value.metric)
    if name.name in ("roc_auc", "gauc"):
        return band(value, text)
    if name.name == "auprc" and "baseline" in value.extra:
        share, lift = text.percent(value.extra["baseline"]), text.metric(value.extra["lift"], 2)
        return text._("{lift} × the base rate of {share}", lift=lift, share=share)
    if name.k is not None:
        return _sampled(config, text)
    parts = []
    if name.name in AT_POINT:
        parts.append(text._("at score {sign} {t}", sign=sign, t=text.metric(config.threshold)))
    if "baseline_all_negative" in value.extra:
        parts.append(text._("flagging nothing: {baseline}", baseline=text.metric(value.extra["baseline_all_negative"])))
    return " · ".join(parts)


def _sampled(config: EvalConfig, text: Text) -> str:
    if config.candidates != "sampled":
        return ""
    if config.negatives is None or config.negatives.per_positive is None:
        return text._("sampled candidates")
    return text._("sampled, {m} negatives", m=f"{config.negatives.per_positive:g}")


def headline(model: str, auc: MetricValue, precision: MetricValue | None, text: Text) -> str:
    """Return what the score does, in one sentence; `model` is already plain."""
    if auc.value is None:
        return text._("The AUC of {model} is undefined: {reason}.", model=model, reason=_reason(auc, text))
    facts = {
        "model": model,
        "auc": text.percent(auc.value),
        "low": text.percent(auc.low),
        "high": text.percent(auc.high),
    }
    if precision is None or precision.value is None or precision.k is None:
        return text._(
            "{model} puts a random positive above a random negative {auc} of the time ({low}–{high}).", **facts
        )
    return text._(
        "{model} puts a random positive above a random negative {auc} of the time ({low}–{high}); "
        "in a user's first {k}, {precision} are relevant.",
        k=text.count(precision.k),
        precision=text.percent(precision.value),
        **facts,
    )


def _reason(value: MetricValue, text: Text) -> str:
    return reason_in_words(value.undefined or "", text)


def quoting(findings: Iterable[Finding], text: Text) -> str:
    """Return whether the checks let these numbers be quoted."""
    counted = tally(findings)
    if counted["critical"]:
        return text._n(
            "{n} check says: do not quote these numbers.",
            "{n} checks say: do not quote these numbers.",
            counted["critical"],
        )
    if counted["warning"]:
        return text._n(
            "{n} check says: read it before quoting.", "{n} checks say: read them before quoting.", counted["warning"]
        )
    return text._("No check speaks against quoting them; {n} did not apply.", n=text.count(counted["not_applicable"]))


def tally(findings: Iterable[Finding]) -> dict[str, int]:
    """Return how many findings stand: fired ones by severity, the others by status."""
    counted = dict.fromkeys(("critical", "warning", "info", "passed", "not_applicable", "skipped", "muted", "error"), 0)
    for finding in findings:
        kind = finding.severity if finding.status == "fired" else finding.status
        if kind in counted:
            counted[kind] += 1
    return counted


def both_aucs(auc: MetricValue, gauc: MetricValue | None, text: Text) -> str:
    """Return the pooled AUC with its band and, where there are users, the one inside users beside it."""
    if auc.value is None:
        return ""
    pooled = {"auc": text.metric(auc.value), "interval": text.interval(auc.low, auc.high), "band": band(auc, text)}
    if gauc is None:
        return text._("AUC {auc} {interval}, {band}.", **pooled)
    if gauc.value is None:
        return text._(
            "AUC over all pairs {auc} {interval}, {band}; inside users (GAUC) undefined: {reason}.",
            reason=_reason(gauc, text),
            **pooled,
        )
    return text._(
        "AUC over all pairs {auc} {interval}, {band}; inside users (GAUC) {gauc} {gauc_interval} over {n} users.",
        gauc=text.metric(gauc.value),
        gauc_interval=text.interval(gauc.low, gauc.high),
        n=text.count(gauc.n_users or 0),
        **pooled,
    )


def few(n_positives: int, n_negatives: int, n_users: int | None, text: Text) -> str:
    """Return the warning for small data; an empty text when there are enough of everything."""
    counts = [n_positives, n_negatives, *([n_users] if n_users is not None else [])]
    if min(counts) >= FEW or sum(counts[:2]) == 0:
        return ""
    facts = {"positives": text.count(n_positives), "negatives": text.count(n_negatives), "few": text.count(FEW)}
    if n_users is None:
        return text._(
            "Positives: {positives}, negatives: {negatives}. Fewer than {few} of one kind: do not rank models on this.",
            **facts,
        )
    return text._(
        "Positives: {positives}, negatives: {negatives}, users: {users}. Fewer than {few} of one kind: "
        "do not rank models on this.",
        users=text.count(n_users),
        **facts,
    )
