"""EvalConfig (口径): every choice that changes a number, refused when unknown, hashed, and archived as JSON."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from recmetrics.errors import RecmetricsError
from recmetrics.registry import nearest
from recmetrics.text import N_

Ties = Literal["average", "best", "worst", "file_order", "item_desc", "item_asc", "floor_mean_rank"]
Gain = Literal["linear", "exp2", "exp2_shift", "binary"]
Treatment = Literal["error", "drop", "last"]
DuplicateRule = Literal["error", "keep_best", "keep_first", "keep_last"]
Stage = Literal["recall", "ranking", "ctr", "push"]
OldEncoding = Literal[
    "auto", "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1250", "cp1251", "cp1252", "latin-1"
]

STAGE_KS: Mapping[str, tuple[int, ...]] = {
    "recall": (100, 500, 1000),
    "ranking": (5, 10, 20),
    "ctr": (5, 10, 20),
    "push": (1, 3),
}

LARGEST_K = 10**9  # longer than any list, and small enough for the int32 ranks of the tables


def whole_k(value: object) -> int:
    """Return a cutoff as int from 1 to `LARGEST_K`.

    Raises
    ------
    RecmetricsError
        `invalid_k` for anything that is no whole number from 1 on, or larger than any list; the sentence names it.
    """
    text = str(value).strip()
    # Twelve digits are too many already, and Python refuses to read thousands of them.
    digits = text.lstrip("0")[:12] if text.isascii() and text.isdigit() else ""
    whole = int(digits or 0) if isinstance(value, int | str) else 0
    if isinstance(value, float) and value.is_integer():
        whole = int(value)
    if isinstance(value, bool) or whole < 1:
        raise RecmetricsError(
            "invalid_k",
            N_("K must be a whole number from 1 on, and '{value}' is none. Give for example 10."),
            value=str(value)[:80],
        )
    if whole > LARGEST_K:
        raise RecmetricsError(
            "invalid_k",
            N_("K is {value}, and no list is that long. The largest K is {largest}."),
            value=str(value)[:80],
            largest=LARGEST_K,
        )
    return whole


class Negatives(BaseModel):
    """How negatives were sampled into the evaluated rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    sampler: Literal["uniform", "popularity", "in_batch", "ratio"] = "uniform"
    per_positive: Annotated[float, Field(gt=0)] | None = None
    shared: bool = True


class Rounding(BaseModel):
    """Rounding that a library applies before it reports."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    decimals: Annotated[int, Field(ge=0, le=15)] = 4
    per_user: bool = False


class EvalConfig(BaseModel):
    """The convention behind a number. Frozen and hashable; defaults are the project's own.

    Raises
    ------
    RecmetricsError
        `invalid_config` or `invalid_k`: an unknown field or value, with the nearest known one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = ""
    note: str = ""
    stage: Stage | None = None
    period_start: date | None = None
    period_end: date | None = None
    timezone: str = "UTC"
    split: Literal["unknown", "time", "random", "user", "user_time", "leave_last_out"] = "unknown"
    user_isolation: Literal["unknown", "isolated", "overlap"] = "unknown"
    gap_days: Annotated[float, Field(ge=0)] | None = None
    candidates: Literal["unknown", "full", "impressions", "sampled"] = "unknown"
    negatives: Negatives | None = None
    catalogue_size: Annotated[int, Field(ge=1)] | None = None
    seen_items: Literal["unknown", "filtered", "kept"] = "unknown"
    relevance_threshold: float = 1.0
    positive_rule: Literal["label_ge", "row_present"] = "label_ge"
    grade_map: tuple[tuple[str, float], ...] | None = None
    truth_scope: Literal["all", "scored_only"] = "all"
    unjudged: Literal["non_relevant", "skip"] = "non_relevant"
    score_direction: Literal["higher", "lower"] = "higher"
    score_kind: Literal["auto", "probability", "raw", "rank"] = "auto"
    encoding: OldEncoding = "auto"  # of text files that are not Unicode
    header_line: Literal["auto", "yes", "no"] = "auto"
    sheet: str = ""  # of a workbook; empty = the first one with rows
    number_format: Literal["auto", "point", "comma"] = "auto"  # the decimal sign of numbers written as text
    time_unit: Literal["auto", "d", "s", "ms", "us", "ns"] = "auto"  # of times written as numbers
    id_spelling: Literal["exact", "normalised"] = "exact"
    duplicates: DuplicateRule = "error"
    truth_duplicates: DuplicateRule = "error"
    missing_scores: Treatment = "error"
    infinite_scores: Treatment = "error"
    score_filter: Literal["none", "positive"] = "none"
    rounding: Rounding | None = None
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    random_state: Annotated[int, Field(ge=0)] = 0
    user_base: Literal["truth", "truth_and_run", "run"] = "truth"
    users_without_relevant: Literal["skip", "zero", "one"] = "skip"
    users_missing_from_run: Literal["zero", "skip"] = "zero"
    single_class_users: Literal["skip", "zero", "half", "one"] = "skip"
    ks: tuple[int, ...] = (5, 10, 20)
    ties: Ties = "average"
    precision_denominator: Literal["k", "min_k_n", "min_r_k"] = "k"
    recall_denominator: Literal["r", "min_r_k"] = "r"
    map_denominator: Literal["min_r_k", "r", "min_r_n", "hits", "k", "mean_p"] = "min_r_k"
    gain: Gain = "linear"
    grades: Literal["relevant", "all"] = "relevant"
    discount: Literal["log2", "max2"] = "log2"
    ideal: Literal["min_r_k", "full_k"] = "min_r_k"
    log_base: Literal[2, "e", 10] = 2
    position_start: Literal[0, 1] = 1
    mrr_cutoff: Literal["k", "none"] = "k"
    beta: Annotated[float, Field(ge=1e-6, le=1e6)] = 1.0  # beyond, F is precision or recall, and β² may overflow
    f_average: Literal["per_user", "of_means"] = "per_user"
    threshold: float = 0.5
    threshold_rule: Literal["ge", "gt"] = "ge"
    threshold_origin: Literal["given", "break_even", "best_f", "quantile"] = "given"
    gauc_weight: Literal["rows", "positives", "equal", "pairs"] = "rows"
    auprc_method: Literal["step", "trapezoid"] = "step"
    max_fpr: Annotated[float, Field(gt=0, le=1)] = 0.1
    log_loss_clip: Annotated[float, Field(gt=0, lt=0.5)] = 1e-15
    ece_bins: Annotated[int, Field(ge=1)] = 15
    ece_binning: Literal["mass", "width"] = "mass"
    schema_version: Literal[1] = 1

    def __init__(self, /, **fields: Any) -> None:
        for name in fields:
            if name not in type(self).model_fields:
                raise RecmetricsError(
                    "invalid_config",
                    N_("The convention has no field '{field}'. The nearest is '{nearest}'."),
                    field=str(name)[:80],
                    nearest=nearest(str(name), list(type(self).model_fields)) or "ks",
                )
        if "ks" not in fields and fields.get("stage") in STAGE_KS:
            fields["ks"] = STAGE_KS[fields["stage"]]
        try:
            super().__init__(**fields)
        except ValidationError as error:
            first = error.errors()[0]
            raise RecmetricsError(
                "invalid_config",
                N_("'{value}' is no value for the convention's field '{field}': {reason}."),
                field=".".join(str(part) for part in first["loc"]),
                value=str(first.get("input"))[:80],
                reason=first["msg"],
            ) from error

    @field_validator("ks", mode="before")
    @classmethod
    def _ks(cls, value: object) -> tuple[int, ...]:
        given = value if isinstance(value, list | tuple) else (value,)
        if not given:
            whole_k("")
        return tuple(sorted({whole_k(k) for k in given}))

    @field_validator("grade_map", mode="before")
    @classmethod
    def _grade_map(cls, value: object) -> object:
        return tuple((str(k), float(v)) for k, v in value.items()) if isinstance(value, Mapping) else value

    @field_validator("position_start", mode="after")
    @classmethod
    def _position_start(cls, value: int) -> Literal[0, 1]:
        # Starting at 0 with 1/log(i+2) is the same weight as starting at 1 with 1/log(i+1), so it is stored as 1.
        return 1

    @field_validator("threshold", "relevance_threshold", mode="after")
    @classmethod
    def _finite(cls, value: float) -> float:
        if not math.isfinite(value):
            raise ValueError("must be a finite number")
        return value + 0.0  # −0.0 and 0.0 are one convention

    def replace(self, **changes: Any) -> EvalConfig:
        """Return this convention with some fields changed, checked like new ones."""
        kept = {name: getattr(self, name) for name in type(self).model_fields}
        return EvalConfig(**{**kept, **changes})

    def changed(self) -> dict[str, Any]:
        """Return the fields that differ from the project's defaults, in order of declaration."""
        return {
            name: getattr(self, name)
            for name, field in type(self).model_fields.items()
            if getattr(self, name) != field.default
        }

    def to_json(self) -> dict[str, Any]:
        """Return every field as JSON values; `from_json` gives the same config back."""
        found = self.model_dump(mode="json")
        if self.grade_map is not None:
            found["grade_map"] = dict(self.grade_map)
        return found

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> EvalConfig:
        """Read the object of an `eval_config.json`."""
        return cls(**fields)

    @classmethod
    def load(cls, path: str | Path) -> EvalConfig:
        """Read an `eval_config.json` file."""
        name = Path(path).name
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise _unreadable(name, error) from error
        return cls.from_bytes(name, content)

    @classmethod
    def from_bytes(cls, name: str, content: bytes) -> EvalConfig:
        """Read the content of an `eval_config.json`; `name` is what errors call it."""
        try:
            fields = json.loads(content.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:  # brackets nested without end are no convention either
            raise _unreadable(name, error) from error
        if not isinstance(fields, dict):
            raise RecmetricsError(
                "invalid_config",
                N_("{file} holds no JSON object. Expected fields such as {example}."),
                file=name,
                example='{"ks": [5, 10]}',
            )
        return cls.from_json(fields)

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the canonical JSON of all fields that can change a number."""
        material = {k: v for k, v in self.to_json().items() if k not in COSMETIC}
        text = json.dumps(material, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


# Fields that say how files are read. They act when a file is loaded; later changes need it loaded again.
READING_FIELDS = ("grade_map", "encoding", "header_line", "sheet", "number_format", "time_unit", "id_spelling")

# Fields that never change a value: names and, because the position is paired with its discount, the first position.
COSMETIC = frozenset({"name", "note", "position_start", "confidence", "random_state", "schema_version"})


def _unreadable(name: str, error: Exception) -> RecmetricsError:
    return RecmetricsError(
        "invalid_config",
        N_("{file} could not be read as a convention file: {reason}. Expected one JSON object of fields."),
        file=name,
        reason=str(error)[:120],
    )
