"""Which column plays which role: what the caller says, else by name, else by content; always with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recmetrics.errors import RecmetricsError
from recmetrics.registry import nearest
from recmetrics.roles import (
    ROLES,
    VALUE_ROLES,
    may_be_count,
    plain,
    rank_as,
    resembles_score,
    says_count,
    says_distance,
    says_rank,
)
from recmetrics.schema.look import Look, look_at
from recmetrics.source import Source
from recmetrics.text import N_

MAX_SEGMENT_VALUES = 50
MAX_GUESSED_MODELS = 20  # a column with more values is taken as the models only when the caller names it

Given = str | int | Iterable[str | int] | None
BY_CALLER = N_("Named by you.")
BY_KIND = N_("Fixed by the file's format.")
BY_NAME = N_("The name '{column}' is usual for this.")
BY_SCORE_NAME = N_("The name '{column}' holds a usual name for this, and its cells are numbers.")
BY_LOW_NAME = N_("No score has a usual name; '{column}' says rank or distance, so a low value may be a good one.")
BY_CONTENT_SCORE = N_("No usual name; '{column}' is the first column of numbers with fractions.")
BY_CONTENT_LABEL = N_("No usual name; '{column}' is the only column with two values such as 0 and 1.")
BY_PLACE = N_("There is no header; the first columns without another role are user and item, in this order.")
BY_SUFFIX = N_("No usual name; '{column}' ends like the name of an id.")
BY_FEW_VALUES = N_("Text with {count} different values, few enough to compare groups.")
_ALONE = ("user", "item", "label", "score", "model", "time")  # a column plays at most one of these
_ERROR_KIND = {role: f"no_{role}_column" for role in ("user", "item", "label", "score")}


@dataclass(frozen=True)
class Choice:
    """The columns that play one role, and the reason: a template with its facts for each column."""

    columns: tuple[str, ...]
    reasons: tuple[tuple[str, Mapping[str, Any]], ...]
    is_given: bool = False


@dataclass(frozen=True)
class Guess:
    """Role → columns with the reasons; `ignored` are the columns without any role.

    Every choice can be overruled: `load(…, columns={role: column})`, `None` for "no such column".
    """

    choices: Mapping[str, Choice]
    ignored: tuple[str, ...] = ()
    looks: Mapping[str, Look] = field(default_factory=dict)

    def column(self, role: str) -> str | None:
        """Return the first column of a role, or None."""
        return self.choices[role].columns[0] if role in self.choices else None

    def all_columns(self, role: str) -> tuple[str, ...]:
        """Return every column of a role."""
        return self.choices[role].columns if role in self.choices else ()

    def to_columns(self) -> dict[str, Any]:
        """Return the mapping that `load(columns=…)` takes to come to the same choices."""
        return {
            role: list(choice.columns) if ROLES[role].many else choice.columns[0]
            for role, choice in self.choices.items()
        }


def guess_columns(source: Source, columns: Mapping[str, Given] | None = None) -> Guess:
    """Return the role of every column of a parsed file.

    Parameters
    ----------
    columns
        What the caller knows: role → column name, position from 0, or several of them; None = there is none.
        Names win over guesses, and a column named here is not guessed for another role.

    Raises
    ------
    RecmetricsError
        `unknown_name` for a role that does not exist; `no_user_column` and the like when a named column is not in
        the file.
    """
    if source.kind != "table":
        roles = ("user", "item", "score") if source.kind == "run" else ("user", "item", "label")
        return Guess({role: Choice((role,), ((BY_KIND, {}),)) for role in roles})
    return _Guesser(source, _given(source, columns or {})).guess()


def refuse_unknown_role(role: str) -> None:
    """Raise RecmetricsError (`unknown_name`) for a role that no column can play; `value` stands for several."""
    if role not in ROLES and role != "value":
        raise RecmetricsError(
            "unknown_name",
            N_("There is no role '{role}'. The nearest is '{nearest}'; known: {known}."),
            role=str(role)[:80],
            nearest=nearest(str(role), list(ROLES)) or "score",
            known=", ".join(ROLES),
        )


def _given(source: Source, columns: Mapping[str, Given]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for role, named in columns.items():
        refuse_unknown_role(role)
        if role == "value":
            found.update(_value_roles(source, named))
            continue
        found[role] = tuple(_resolve(source, role, column) for column in _several(named))
    _refuse_shared(source, found)
    return found


def _refuse_shared(source: Source, given: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse one column named for two roles; groups and values (a click that is the label too) may share one."""
    played: dict[str, str] = {}
    for role in _ALONE:
        for column in given.get(role, ()):
            if column in played:
                raise RecmetricsError(
                    "no_column",
                    N_(
                        "{file}: column '{column}' is named both for the role {first} and for the role {second}. "
                        "Name another column for one of them: --columns {second}=NAME."
                    ),
                    file=source.name,
                    column=column[:80],
                    first=played[column],
                    second=role,
                )
            played[column] = role


def _several(named: Given) -> list[str | int]:
    if named is None:
        return []
    return [named] if isinstance(named, str | int) else list(named)


def _value_roles(source: Source, named: Given) -> dict[str, tuple[str, ...]]:
    """Sort columns given as `value` by what their names say they measure."""
    found: dict[str, tuple[str, ...]] = {}
    for column in _several(named):
        name = _resolve(source, "value", column)
        role = next((role for role in VALUE_ROLES if rank_as(role, name) is not None), None)
        if role is None:
            raise RecmetricsError(
                "no_column",
                N_("{file}: the name of value column '{column}' does not say what it holds. Name its role: {known}."),
                file=source.name,
                column=name,
                known=", ".join(VALUE_ROLES),
            )
        found[role] = (name,)
    return found


def _resolve(source: Source, role: str, named: str | int) -> str:
    """Return the column that a name or a position means."""
    names = source.columns
    if isinstance(named, int) and not isinstance(named, bool) and 0 <= named < len(names):
        return names[named]
    if named in names:
        return str(named)
    stripped = {name.strip(): name for name in names}
    if str(named).strip() in stripped:
        return stripped[str(named).strip()]
    raise missing_column(source, role, str(named))


def missing_column(source: Source, role: str, named: str | None = None) -> RecmetricsError:
    """Return the error for a role that no column plays, with the columns there are and the way out."""
    shown = ", ".join(f"'{name[:40]}'" for name in source.columns[:12])
    facts = {"file": source.name, "role": role, "columns": shown}
    kind = _ERROR_KIND.get(role, "no_column")
    if source.kind == "run" and role == "label":
        template = N_("{file} is a TREC run and has no labels. Give its judgments with --truth FILE.")
        return RecmetricsError(kind, template, file=source.name)
    if named is None:
        template = N_(
            "{file} has no {role} column that can be recognised; it has {columns}. "
            "Say which one it is: --columns {role}=NAME."
        )
        return RecmetricsError(kind, template, **facts)
    near = nearest(named, list(source.columns))
    if not near:
        template = N_(
            "{file} has no column '{named}' for the role {role}; it has {columns}. "
            "Name one of these with --columns {role}=NAME."
        )
        return RecmetricsError(kind, template, **facts, named=named[:80])
    template = N_(
        "{file} has no column '{named}' for the role {role}; it has {columns}. "
        "The nearest is '{nearest}': pass --columns {role}={nearest}, or rename it."
    )
    return RecmetricsError(kind, template, **facts, named=named[:80], nearest=near[:80])


class _Guesser:
    """One pass over the roles; every step takes columns away from those that are still free."""

    def __init__(self, source: Source, given: Mapping[str, tuple[str, ...]]) -> None:
        self.source = source
        self.given = given
        self.looks = {name: look_at(source.table.column(name), source.decimal_sign) for name in source.columns}
        taken = {column for role, columns in given.items() if role != "segment" for column in columns}
        self.free = [name for name in source.columns if name not in taken]
        self.choices: dict[str, Choice] = {
            role: Choice(columns, ((BY_CALLER, {}),) * len(columns), is_given=True)
            for role, columns in given.items()
            if columns
        }

    def guess(self) -> Guess:
        for role in ("user", "item", "label", "model", "time", "split", "position", "propensity"):
            self._by_name(role)
        self._scores()
        self._label_by_content()
        self._ids_by_content()
        self._values()
        self._segments()
        order = [role for role in ROLES if role in self.choices]
        used = {column for role in order for column in self.choices[role].columns}
        ignored = tuple(name for name in self.source.columns if name not in used)
        return Guess({role: self.choices[role] for role in order}, ignored, self.looks)

    def _take(self, role: str, columns: list[str], reason: str) -> None:
        self.choices[role] = Choice(tuple(columns), tuple((reason, {"column": column}) for column in columns))
        self.free = [name for name in self.free if name not in columns]

    def _is_open(self, role: str) -> bool:
        return role not in self.given

    def _by_name(self, role: str) -> None:
        if not self._is_open(role) or not self._fits_long_table(role):
            return
        ranked = [(rank, name) for name in self.free if (rank := rank_as(role, name)) is not None]
        ranked = [found for found in ranked if self._can_play(role, found[1])]
        if ranked:
            self._take(role, [min(ranked)[1]], BY_NAME)

    def _fits_long_table(self, role: str) -> bool:
        return role != "model" or ("user" in self.choices and "item" in self.choices)

    def _can_play(self, role: str, name: str) -> bool:
        look = self.looks[name]
        if role == "model":
            return 2 <= look.n_distinct <= MAX_GUESSED_MODELS and look.n_missing == 0
        if role == "label" and may_be_count(name) and self._counts_events():
            return False
        if role in VALUE_ROLES:
            return look.is_number or (look.n_distinct <= 3 and role in ("click", "purchase"))
        return look.kind != "other"

    def _counts_events(self) -> bool:
        """Whether a column of clicks or purchases goes beyond 0 and 1: then none of them is taken as the label."""
        looks = [self.looks[name] for name in self.source.columns if may_be_count(name)]
        return any(look.is_number and look.n_distinct > 1 and not look.is_binary for look in looks)

    def _scores(self) -> None:
        if not self._is_open("score"):
            return
        known = [name for name in self.free if rank_as("score", name) is not None]
        exact = [name for name in known if self.looks[name].is_number]
        alike = [name for name in self.free if self._is_named_score(name)]
        named = [name for name in self.source.columns if name in exact or name in alike]
        if named:
            reasons = [BY_NAME if name in exact else BY_SCORE_NAME for name in named]
            self._take("score", named, BY_NAME)
            told = tuple((reason, {"column": name}) for reason, name in zip(reasons, named, strict=True))
            self.choices["score"] = Choice(tuple(named), told)
            return
        nameless = [name for name in self.free if not any(rank_as(role, name) is not None for role in ROLES)]
        low = [name for name in nameless if self.looks[name].is_number and (says_distance(name) or says_rank(name))]
        fractions = [name for name in nameless if self.looks[name].is_fraction and name not in low]
        if fractions:
            self._take("score", fractions[:1], BY_CONTENT_SCORE)
        elif low:
            self._take("score", low[:1], BY_LOW_NAME)
        elif known:  # text under a score's name: reading it will say which cells are no numbers
            self._take("score", known[:1], BY_NAME)

    def _is_named_score(self, name: str) -> bool:
        is_other = any(rank_as(role, name) is not None for role in ROLES if role != "score")
        return resembles_score(name) and not is_other and self.looks[name].is_number

    def _label_by_content(self) -> None:
        if not self._is_open("label") or "label" in self.choices:
            return
        binary = [name for name in self.free if self.looks[name].is_binary and not says_count(name)]
        binary = [name for name in binary if not (may_be_count(name) and self._counts_events())]
        if len(binary) == 1:
            self._take("label", binary, BY_CONTENT_LABEL)

    def _ids_by_content(self) -> None:
        for role in ("user", "item"):
            if not self._is_open(role) or role in self.choices:
                continue
            named = [name for name in self.free if plain(name).endswith("id") and not self.looks[name].is_fraction]
            if named:
                self._take(role, named[:1], BY_SUFFIX)
        if self.source.has_header is False:
            self._ids_by_place()

    def _ids_by_place(self) -> None:
        """Without a header, two columns left over before the others are user and item, in this order."""
        places = [name for name in self.free if self.looks[name].kind in ("word", "whole")]
        open_roles = [role for role in ("user", "item") if self._is_open(role) and role not in self.choices]
        for role, name in zip(open_roles, places, strict=False):
            self._take(role, [name], BY_PLACE)

    def _values(self) -> None:
        label = self.choices.get("label")
        # A click column may be the label and the count of clicks at once.
        pool = [*self.free, *(label.columns if label else ())]
        for role in VALUE_ROLES:
            if not self._is_open(role) or role in self.choices:
                continue
            ranked = [(rank, name) for name in pool if (rank := rank_as(role, name)) is not None]
            ranked = [found for found in ranked if self._can_play(role, found[1])]
            if ranked:
                self._take(role, [min(ranked)[1]], BY_NAME)

    def _segments(self) -> None:
        if not self._is_open("segment"):
            return
        found: list[str] = []
        reasons: list[tuple[str, Mapping[str, Any]]] = []
        for name in self.free:
            look = self.looks[name]
            if not 2 <= look.n_distinct <= MAX_SEGMENT_VALUES or look.kind in ("fraction", "other", "empty"):
                continue
            if rank_as("segment", name) is not None:
                reasons.append((BY_NAME, {"column": name}))
            elif look.kind == "word" and 2 * look.n_distinct <= self.source.n_rows:
                reasons.append((BY_FEW_VALUES, {"count": look.n_distinct}))
            else:
                continue
            found.append(name)
        if found:
            self.choices["segment"] = Choice(tuple(found), tuple(reasons))
            self.free = [name for name in self.free if name not in found]
